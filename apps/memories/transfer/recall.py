"""Scopes found on disk without a database: what their files say, and how it becomes rows again. No file is rewritten.

Current text, ids, names, tags, status and times stand in the files. Numbers of revisions start above every one that was ever
given out (L-23), so that an agent's old ``revision`` never matches a text it has not read.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings

from apps.base import clock
from apps.base.text import fold, nfc, slug_for
from apps.base.transactions import outside_transactions, short_transaction
from apps.memories import documents, frontmatter, scope_files, store
from apps.memories.ledger import Deed, Outcome, Recording, commit
from apps.memories.ledger.names import ARCHIVE
from apps.memories.ledger.scan import TOP_FOLDERS
from apps.memories.models import Folder, LogicalOperation, Resource, Scope, Status
from apps.memories.scopes import SCOPE_FILE, folder_of, scope_key_of_folder
from apps.memories.store import Signature
from apps.memories.transfer.changes import keep_names
from apps.memories.transfer.notes import moment_of, other_names
from apps.operations.caller import SHARED_PROFILE, Caller

ACTION = "rebuild"
SUCCESSOR = re.compile(r"(.+)-(\d+)")


@dataclass(frozen=True, slots=True)
class Lying:
    """A document as it lies on disk, before its text is read into rows."""

    scope_key: str
    path: str
    stable_id: str
    revision: int
    updated_at: datetime
    mtime: int
    profile: str


@dataclass
class FoundScope:
    """A scope's folder: what its ``scope.json`` says, the documents in it, and what cannot be brought back."""

    key: str
    content: dict[str, Any] | None
    documents: list[Lying] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)  # Code and path.

    @property
    def highest(self) -> int:
        """The highest number that any revision may have had."""
        told = self.content.get("reserved_revisions") if self.content else None
        reserved = told if isinstance(told, int) and told > 0 else 0
        return max([reserved, *(document.revision for document in self.documents)])


@outside_transactions
def found_scopes() -> list[FoundScope]:
    """Every scope that has a folder, in the order of their keys, each document in one of them only."""
    root = Path(settings.MEMORIES_FOLDER)
    folders = [root / "global", root / "library", *root.glob("projects/*"), *root.glob("profiles/*/global")]
    keys = {scope_key_of_folder(folder.relative_to(root).as_posix()): folder for folder in folders if _is_own(folder)}
    scopes = [_look_through(key, folder) for key, folder in sorted(keys.items(), key=lambda item: str(item[0])) if key]
    _leave_one_of_each(scopes)
    return scopes


def recall(
    caller: Caller, scope: FoundScope, operation: LogicalOperation, told: Callable[[int], None]
) -> Iterator[tuple[str, str]]:
    """Bring one scope back into rows, in batches. Answers what could not be read, by code and path."""
    number = scope.highest + 1
    with short_transaction():
        policy = (scope.content or {}).get("policy")
        Scope.objects.create(
            key=scope.key, policy="reviewed" if policy == "reviewed" else "direct", reserved_revisions=scope.highest
        )
        Folder.objects.bulk_create(_folders(scope))
    # As they were last changed: lists show the newest first, and those of the same moment by their rows' order.
    waiting = iter(sorted(scope.documents, key=lambda lying: (lying.updated_at, lying.mtime, lying.path)))
    names: dict[int, Sequence[str]] = {}
    deed = Deed(ACTION, operation=operation, reviewed=True)
    while batch := list(islice(waiting, settings.SAVE_MANY)):
        changes = []
        for lying in batch:
            change = _read(lying, number)
            if change is None:
                yield "unreadable", lying.path
            else:
                changes.append(change)
        if changes:
            done = commit(caller, scope.key, changes, deed)
            names |= {o.memory.pk: c.names for o, c in zip(done.outcomes, changes, strict=True) if c.names}
        told(len(batch))
    with short_transaction():
        keep_names(scope.key, names)


@dataclass(frozen=True, kw_only=True)
class Recall:
    """One document becomes a row as its file says; the file stays as it is."""

    lying: Lying
    document: bytes
    signature: Signature
    number: int
    names: tuple[str, ...]

    def apply(self, recording: Recording) -> Outcome:
        lying = self.lying
        metadata = frontmatter.read(self.document)
        facts = documents.read_facts(self.document, fallback_title=PurePosixPath(lying.path).stem)
        facts = replace(facts, created_at=facts.created_at or lying.updated_at)
        slug = slug_for(metadata.text("slug") or facts.title)
        memory = recording.new_memory(
            _resource(lying.path),
            facts,
            slug=recording.names.free_slug(slug),
            path=lying.path,
            stable_id=lying.stable_id,
            first=self.number,
        )
        memory.status = _status(lying.path, metadata.text("status"))
        memory.profile_id = lying.profile
        memory.updated_at = lying.updated_at
        recording.add(
            memory,
            self.document,
            facts,
            action=ACTION,
            write=False,
            signature=self.signature,
            withheld=not documents.is_clean(self.document),
        )
        return Outcome(memory)


def _is_own(folder: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink()


def _look_through(key: str, folder: Path) -> FoundScope:
    scope = FoundScope(key, _scope_file(folder))
    if scope.content is None or scope.content["scope"] != key:
        scope.problems.append(("scope_file", SCOPE_FILE))
        scope.content = scope.content if scope.content and scope.content["scope"] == key else None
    places: dict[str, Lying] = {}
    for path, status in sorted(store.markdown_files(folder), key=lambda found: found[0]):
        lying = None if status.st_size > settings.IMPORT_FILE_BYTES else _lying(key, folder, path, status.st_mtime_ns)
        if lying is None:
            scope.problems.append(("unreadable", _shown(path)))
        elif not lying.stable_id or path != nfc(path):
            scope.problems.append(("stranger", path))
        else:
            other = places.setdefault(fold(path), lying)
            if other is not lying:  # Two names that differ only in case: rows hold one of them.
                newer, older = (lying, other) if _age(lying) > _age(other) else (other, lying)
                places[fold(path)] = newer
                scope.problems.append(("name_taken", older.path))
    scope.documents = list(places.values())
    return scope


def _scope_file(folder: Path) -> dict[str, Any] | None:
    try:
        read = store.read(folder / SCOPE_FILE)
        return scope_files.parse(read[0]) if read else None
    except (OSError, ValueError):
        return None


def _lying(key: str, folder: Path, path: str, mtime: int) -> Lying | None:
    """What a file says of itself; None where it cannot be read."""
    try:
        path.encode()
        read = store.read(folder / path)
        metadata = frontmatter.read(read[0]) if read else None
    except (OSError, UnicodeEncodeError, frontmatter.NotUtf8):
        return None
    if metadata is None:
        return None
    return Lying(
        scope_key=key,
        path=path,
        stable_id=metadata.text("stable_id")[:40],
        revision=metadata.number("revision") or 0,
        updated_at=_moment(metadata.text("updated_at")) or moment_of(mtime / 1e9),
        mtime=mtime,
        profile=metadata.text("usage_profile_id")[:64] or SHARED_PROFILE,
    )


def _leave_one_of_each(scopes: Iterable[FoundScope]) -> None:
    """Of documents with the same id only the newest comes back; the scan tells of the others again."""
    newest: dict[str, Lying] = {}
    for scope in scopes:
        for lying in scope.documents:
            other = newest.get(lying.stable_id)
            if other is None or _age(lying) > _age(other):
                newest[lying.stable_id] = lying
    for scope in scopes:
        twins = [lying for lying in scope.documents if newest[lying.stable_id] is not lying]
        scope.problems += [("twin", lying.path) for lying in twins]
        scope.documents = [lying for lying in scope.documents if newest[lying.stable_id] is lying]


def _age(lying: Lying) -> tuple[int, datetime, int]:
    return lying.revision, lying.updated_at, -len(lying.path)


def _read(lying: Lying, number: int) -> Recall | None:
    try:
        read = store.read(folder_of(lying.scope_key) / lying.path)
        if read is None:
            return None
        metadata = frontmatter.read(read[0])
    except (OSError, frontmatter.NotUtf8):
        return None
    return Recall(
        lying=lying,
        document=read[0],
        signature=read[1],
        number=number,
        names=other_names(metadata, PurePosixPath(lying.path).stem),
    )


def _resource(path: str) -> Resource:
    return TOP_FOLDERS.get(path.partition("/")[0], Resource.MEMORY)


def _status(path: str, told: str) -> Status:
    return Status.ARCHIVED if path.startswith(f"{ARCHIVE}/") or told == Status.ARCHIVED else Status.ACTIVE


def _folders(scope: FoundScope) -> list[Folder]:
    """How full the folders are, so that new files go on where the old ones stopped (D-26)."""
    files = Counter(lying.path.rpartition("/")[0] for lying in scope.documents)
    newest: dict[str, int] = {}
    for folder in files:
        successor = SUCCESSOR.fullmatch(folder)
        base, number = (successor[1], int(successor[2])) if successor and successor[1] in files else (folder, 1)
        newest[base] = max(number, newest.get(base, 1))
    return [
        Folder(scope_id=scope.key, base=base, number=number, files=files[base if number == 1 else f"{base}-{number}"])
        for base, number in newest.items()
        if number < 2**31
    ]


def _moment(stamp: str) -> datetime | None:
    try:
        return clock.to_milliseconds(clock.from_stamp(stamp)) if stamp else None
    except (ValueError, OverflowError):
        return None


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode()
