"""Cold start of a running, empty instance: its workspaces, documents and history from the remote it is connected to (GIT-067).

Documents keep their ids and places; numbers of revisions start above all that were ever given out (L-23). What Git never had
is named in the result. The command ``git_bootstrap`` does the same for a folder on which no server runs.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from django.conf import settings
from pydantic import Field

from apps.base.text import slug_for
from apps.base.transactions import short_transaction
from apps.instance.errors import InstanceNotEmpty
from apps.instance.rebuild import Report, make_owner
from apps.memories import documents, frontmatter, scope_files
from apps.memories.ledger import Deed, Outcome, Recording, close_operation, commit, open_operation
from apps.memories.ledger.names import ARCHIVE
from apps.memories.models import Memory, Resource, Scope, Status
from apps.memories.scopes import SCOPE_FILE
from apps.memories.transfer.recall import FoundScope
from apps.memory_git.deeds import note, start
from apps.memory_git.importing.bootstrapping import Fetched, adopt_history, fetched
from apps.memory_git.importing.inspecting import left_out
from apps.memory_git.leasing import whole
from apps.memory_git.mirror.binding import usable_connection
from apps.memory_git.mirror.credentials import access_of, address_at
from apps.memory_git.mirror.errors import ConnectionMissing
from apps.memory_git.models import GitDeed, MemoryRepository
from apps.memory_git.repository import local
from apps.memory_git.restoring.versions import by_git
from apps.memory_git.schemas import GitDeedOut
from apps.memory_git.selectors.jobs import deed_out
from apps.memory_git.switch import is_enabled
from apps.memory_git.trees.documents import Document
from apps.operations.caller import Caller, Right
from apps.operations.operation import Effect, operation
from apps.profiles.models import Profile
from apps.workspaces.models import Project

NAME = "memory_remote_bootstrap"
BATCH = 50
NOT_IN_GIT = (
    "key_ring", "users", "sessions", "tokens", "settings", "sealed_values", "vault", "files", "caches", "older_revisions"
)  # fmt: skip


Preview = Annotated[
    bool, Field(description="Only tell what would be taken in and what would be left out; nothing changes.")
]


@operation(needs=Right.ADMINISTER, answers=GitDeedOut, effect=Effect.ADDS)
def memory_remote_bootstrap(caller: Caller, *, preview: Preview = False) -> GitDeedOut:
    """Fill this empty instance from the connected remote: workspaces, documents with their ids, and the history of commits.

    Only where there is no document and no workspace, Memory Git is off, and one repository holds everything. The answer is a
    job; its result names what Git cannot bring back, and the documents that are left out because they are not in order: mend
    those at the remote first, if you want them. Switch Memory Git on afterwards to go on pushing there.
    """
    _connected()
    _refuse_unless_empty()
    return deed_out(start(caller, "remote_bootstrap", {"preview": preview}))


def run(deed: GitDeed) -> dict[str, Any]:
    """The tree is looked at before the first row is made: refused whole, or taken in but for what it leaves out by name."""
    connection = _connected()
    with fetched(address_at(connection.url), access_of(connection), connection.branch) as found:
        told = _scope_files(found)
        if deed.arguments.get("preview"):
            return _result(found, told)
        by_scope: dict[str, list[Document]] = defaultdict(list)
        for document in found.tree.documents:
            by_scope[document.scope_key].append(document)
        with whole({*by_scope, *told}, work="git bootstrap") as held:
            _refuse_unless_empty(but=deed)
            report = _make_owners(told, by_scope)
            caller = by_git(Caller.for_job(deed))
            operation = open_operation(caller, NAME, f"From commit {found.tip.decode()[:12]}.", job_id=deed.pk)
            terms = Deed(NAME, operation=operation, held=held, reviewed=True)
            note(deed, done=0, total=len(found.tree.documents))
            for scope_key, lying in sorted(by_scope.items()):
                number = _first_number(told.get(scope_key, {}), lying, found)
                for at in range(0, len(lying), BATCH):
                    changes = [_change(one, found, number) for one in lying[at : at + BATCH]]
                    commit(caller, scope_key, changes, terms)
                    note(deed, done=deed.done + len(changes))
            close_operation(operation)
            commits = adopt_history(found, connection.branch)
        return {**_result(found, told), "commits": commits, "workspaces": report.workspaces}


def _result(found: Fetched, told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "commit": found.tip.decode(),
        "commits": 0,  # Taken over so far.
        "documents": len(found.tree.documents),
        "workspaces": len({key for key in (*told, *_scopes_in(found)) if key.startswith("project/")}),
        "ignored": found.tree.ignored[:100],
        **left_out(found.tree),
        "not_restored": list(NOT_IN_GIT),
    }


def _scopes_in(found: Fetched) -> set[str]:
    return {document.scope_key for document in found.tree.documents}


@dataclass(frozen=True, kw_only=True)
class Bring:
    """One document as the remote has it, with its id, its place and its state."""

    document: bytes
    path: str
    stable_id: str
    resource: Resource
    number: int

    def apply(self, recording: Recording) -> Outcome:
        metadata = frontmatter.read(self.document)
        facts = documents.read_facts(self.document, fallback_title=self.path.rpartition("/")[2].removesuffix(".md"))
        memory = recording.new_memory(
            self.resource,
            facts,
            slug=recording.names.free_slug(slug_for(metadata.text("slug") or facts.title)),
            path=self.path,
            stable_id=self.stable_id,
            first=self.number,
        )
        is_away = self.path.startswith(f"{ARCHIVE}/") or metadata.text("status") == Status.ARCHIVED
        memory.status = Status.ARCHIVED if is_away else Status.ACTIVE
        profile = metadata.text("usage_profile_id")[:64]
        if profile and Profile.objects.filter(pk=profile).exists():
            memory.profile_id = profile
        recording.add(
            memory,
            documents.stamped(self.document, memory, memory.revision),
            facts,
            action="bootstrap",
            withheld=not documents.is_clean(self.document),
        )
        return Outcome(memory)


def _connected() -> Any:
    connection = usable_connection()
    if connection is None:
        raise ConnectionMissing()
    return connection


def _refuse_unless_empty(but: GitDeed | None = None) -> None:
    """What is here already would have to be merged, and that is never done."""
    connection = _connected()
    is_in_use = Memory.objects.exists() or Project.objects.exists() or is_enabled()
    has_history = local.exists(Path(settings.MEMORIES_FOLDER)) or MemoryRepository.objects.exclude(head="").exists()
    if is_in_use or has_history or address_at(connection.url).is_template:
        raise InstanceNotEmpty()


def _scope_files(found: Fetched) -> dict[str, Mapping[str, Any]]:
    """What each scope says of itself; one that cannot be read is guessed from its folder."""
    told: dict[str, Mapping[str, Any]] = {}
    for entry in found.entries:
        if entry.path.endswith(f"/{SCOPE_FILE}"):
            try:
                content = scope_files.parse(found.content(entry.blob))
            except ValueError:
                continue
            told[content["scope"]] = content
    return told


def _make_owners(told: Mapping[str, Mapping[str, Any]], by_scope: Mapping[str, list[Document]]) -> Report:
    report = Report()
    with short_transaction():
        for scope_key in sorted({*told, *by_scope}):
            scope = FoundScope(scope_key, dict(told[scope_key]) if scope_key in told else None)
            make_owner(scope, report)
            policy = "reviewed" if told.get(scope_key, {}).get("policy") == "reviewed" else "direct"
            Scope.objects.get_or_create(key=scope_key, defaults={"policy": policy})
    return report


def _first_number(told: Mapping[str, Any], lying: list[Document], found: Fetched) -> int:
    numbers = [frontmatter.read(found.content(one.blob)).number("revision") or 0 for one in lying]
    reserved = told.get("reserved_revisions")
    return max([*numbers, reserved if isinstance(reserved, int) and reserved > 0 else 0], default=0) + 1


def _change(one: Document, found: Fetched, number: int) -> Bring:
    return Bring(
        document=found.content(one.blob),
        path=one.path,
        stable_id=one.stable_id,
        resource=Resource(one.resource),
        number=number,
    )
