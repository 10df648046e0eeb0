"""One pass over one repository: objects first, then the branch, then the rows; each operation has one commit (L-21)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext_lazy as _
from dulwich.objects import Commit
from dulwich.repo import Repo

from apps.base.text import lf
from apps.memories import store
from apps.memories.scopes import SCOPE_FILE, file_of
from apps.memory_git.committing import wording
from apps.memory_git.committing.gathering import Deed, End, Held, documents_of, held_by
from apps.memory_git.committing.rows import Entered, enter, enter_large
from apps.memory_git.errors import RepositoryBroken
from apps.memory_git.models import DocumentVersion, GitCommit, MemoryRepository
from apps.memory_git.repository import local
from apps.memory_git.repository.objects import Identity, Staging
from apps.memory_git.repository.roots import prefix_in

LARGE = 2000  # Documents of one operation whose rows do not fit into one short transaction.
WALKED = 10_000


@dataclass
class Making:
    """One pass over one repository, under its lock."""

    repository: MemoryRepository
    repo: Repo
    who: Identity
    staging: Staging = field(init=False)
    first: bytes | None = field(init=False)
    tip: bytes | None = field(init=False)
    tree: bytes | None = field(init=False)
    entered: list[Entered] = field(default_factory=list)
    known: dict[str, Held] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)  # Operations that have their commit already.
    settled: dict[int, str] = field(default_factory=dict)  # Their jobs, and which commit that is.
    message: str = ""

    def __post_init__(self) -> None:
        self.staging = local.staging(self.repo)
        self.first = self.tip = local.tip(self.repo, self.repository.branch)
        self.tree = self._tree_of(self.tip) if self.tip else None
        if self.tree is None:
            manifest = {name.encode(): self.staging.blob(content) for name, content in local.MANIFEST.items()}
            self.tree = self.staging.changed(None, dict(manifest))

    def take_up(self, deeds: Sequence[Deed]) -> None:
        """Look up what is held of the documents; enter commits that a crash left without their rows."""
        ids = [deed.operation.pk for deed in deeds]
        rows = GitCommit.objects.filter(repository=self.repository, operation_id__in=ids)
        self.before = dict(rows.values_list("operation_id", "sha"))
        self.known = held_by(self.repository, list({end.stable_id for deed in deeds for end in deed.ends}))
        head = self.repository.head.encode() or None
        if self.tip == head:
            return
        by_id = {deed.operation.pk: deed for deed in deeds}
        for commit in self._unknown(head):
            deed = by_id.get(wording.operation_in(commit.message))
            if deed is not None and deed.operation.pk not in self.before:
                self.entered.append(self._planned(deed, sha=commit.id.decode())[0])
            else:
                self.entered.append(replace(Entered.of_foreign(commit), operation_id=""))

    def _unknown(self, head: bytes | None) -> list[Commit]:
        """The commits after the last one that has rows, oldest first."""
        found: list[Commit] = []
        at = self.tip
        while at != head and at is not None:
            commit = self.repo[at]
            if not isinstance(commit, Commit) or len(found) >= WALKED:
                break
            found.append(commit)
            at = bytes(commit.parents[0]) if commit.parents else None
        if at != head:
            raise RepositoryBroken(name=self.repository.name, problem=_("its history was changed by another program"))
        return found[::-1]

    def commit(self, deed: Deed) -> None:
        """One commit, also of an operation that changes no byte (L-03); none where there is one already."""
        if sha := self.before.get(deed.operation.pk):
            if deed.job is not None:
                self.settled[deed.job.pk] = sha
            return
        if any(entry.operation_id == deed.operation.pk for entry in self.entered):
            return
        entry, changes = self._planned(deed)
        self.tree = self.staging.changed(self.tree, changes)
        parents = [self.tip] if self.tip else []
        self.message = wording.message_of(
            entry.subject,
            deed.operation,
            deed.scopes,
            [end.stable_id for end in deed.ends],
            [version.path for version in entry.versions if version.change == DocumentVersion.WITHHELD],
        )
        self.tip = self.staging.commit(self.tree, parents, self.who, deed.at, self.message)
        entry.sha = self.tip.decode()
        self.entered.append(entry)

    def finish(self) -> None:
        """Objects, then the branch, then the rows."""
        if self.tip is not None and self.tip != self.first:
            self.staging.store_all()
            self.staging.make_durable()
            local.move_branch(self.repo, self.repository.branch, self.first, self.tip, self.who, self.message)
        if not self.entered and not self.settled:
            return
        large = sum(len(entry.versions) for entry in self.entered) > LARGE
        (enter_large if large else enter)(self.repository, self.entered, self.staging.count, self.settled)

    def _planned(self, deed: Deed, sha: str = "") -> tuple[Entered, dict[bytes, bytes | None]]:
        changes: dict[bytes, bytes | None] = {}
        versions: list[DocumentVersion] = []
        to_write: list[End] = []
        for end in deed.ends:
            held = self.known.get(end.stable_id)
            if self._is_held(end, held):
                continue
            if self._is_mine(end) and not end.is_gone and not end.withheld:
                to_write.append(end)
                continue
            self._leave(end, held, changes, versions, deed)
        for end, document in documents_of(to_write):
            held = self.known.get(end.stable_id)
            blob = self.staging.blob(lf(document))
            place = self._place(end.scope_key, end.path)
            if held is not None and held.blob and (old := self._place(held.scope_key, held.path)) != place:
                self._remove(old, held, changes)
            changes[place] = blob
            versions.append(_version(end, _change_of(end, held), blob.decode(), deed, held))
            self.known[end.stable_id] = Held(end.revision, end.scope_key, end.path, blob.decode())
        if not sha:
            changes |= self._scope_files(deed.scopes)
        return Entered.of(deed, versions, wording.subject_of(deed.operation, deed.ends), sha), changes

    def _is_held(self, end: End, held: Held | None) -> bool:
        """Committed already, at this or a later revision (L-21)."""
        return held is not None and held.revision >= end.revision

    def _leave(
        self,
        end: End,
        held: Held | None,
        changes: dict[bytes, bytes | None],
        versions: list[DocumentVersion],
        deed: Deed,
    ) -> None:
        """A document that is deleted, went to another repository, or must stay out."""
        stays_out = self._is_mine(end) and not end.is_gone
        moved = held is not None and (held.scope_key, held.path) != (end.scope_key, end.path)
        kept = held if stays_out and held is not None and not moved else None  # The older version goes on lying there.
        if held is not None and held.blob and kept is None:
            self._remove(self._place(held.scope_key, held.path), held, changes)
        elif not stays_out and held is None:
            return  # It came and went within the operation.
        change = DocumentVersion.WITHHELD if stays_out else DocumentVersion.DELETED
        version = _version(end, change, kept.blob if kept else "", deed, held)
        if not self._is_mine(end) and held is not None:
            version.scope_key, version.path = held.scope_key, held.path
        versions.append(version)
        self.known[end.stable_id] = Held(end.revision, version.scope_key, version.path, kept.blob if kept else "")

    def _remove(self, place: bytes, held: Held, changes: dict[bytes, bytes | None]) -> None:
        """Take a document's old place away, unless another document has it since."""
        if place not in changes and self.staging.entry(self.tree, place) == held.blob.encode():
            changes[place] = None

    def _scope_files(self, scopes: Sequence[str]) -> dict[bytes, bytes | None]:
        """The scopes' manifests as they lie there (L-23)."""
        found: dict[bytes, bytes | None] = {}
        for scope_key in scopes:
            if read := store.read(file_of(scope_key, SCOPE_FILE)):
                found[self._place(scope_key, SCOPE_FILE)] = self.staging.blob(lf(read[0]))
        return found

    def _is_mine(self, end: End) -> bool:
        """In a repository of one scope, documents of another one only leave."""
        return self.repository.scope_key in ("", end.scope_key)

    def _place(self, scope_key: str, path: str) -> bytes:
        return f"{prefix_in(self.repository.root, scope_key)}{path}".encode()

    def _tree_of(self, sha: bytes) -> bytes:
        commit = self.repo[sha]
        if not isinstance(commit, Commit):
            raise ValueError("The branch points to no commit.")
        return bytes(commit.tree)


def _change_of(end: End, held: Held | None) -> str:
    if held is None or not held.blob:
        return DocumentVersion.ADDED
    return (
        DocumentVersion.MODIFIED if (held.scope_key, held.path) == (end.scope_key, end.path) else DocumentVersion.MOVED
    )


def _version(end: End, change: str, blob: str, deed: Deed, held: Held | None) -> DocumentVersion:
    moved = held is not None and held.path != end.path
    return DocumentVersion(
        stable_id=end.stable_id,
        resource=end.resource,
        scope_key=end.scope_key,
        revision=end.revision,
        path=end.path,
        old_path=held.path if held is not None and moved else "",
        change=change,
        blob=blob,
        title="" if end.withheld else end.title,
        at=deed.at,
    )
