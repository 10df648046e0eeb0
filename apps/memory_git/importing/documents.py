"""Taking chosen documents of an inspected remote in: new revisions down the ledger's road, then a commit (GIT-068).

Documents are added or changed, never deleted; no history is rewritten or joined. What cannot be taken is named.
"""

from collections.abc import Iterable
from typing import Any

from dulwich.objects import Blob, ObjectID
from dulwich.repo import Repo

from apps.base.errors import MemRelayError
from apps.memories import documents as texts
from apps.memories.ledger import Deed, close_operation, commit, open_operation
from apps.memories.models import LogicalOperation, Memory, Resource
from apps.memory_git.committing.passes import commit_root
from apps.memory_git.deeds import note
from apps.memory_git.importing.inspecting import differing, inspected, left_out
from apps.memory_git.leasing import all_scopes, whole
from apps.memory_git.mirror.errors import RepositoryUnbound
from apps.memory_git.models import GitDeed
from apps.memory_git.restoring.snapshots import catch_up, is_alive
from apps.memory_git.restoring.versions import RestoreVersion, by_git
from apps.memory_git.trees.documents import Document
from apps.operations.caller import Caller

NAME = "memory_remote_import"
SECRET = "CREDENTIAL_DETECTED"  # noqa: S105 - a code
NO_SCOPE = "SCOPE_NOT_FOUND"


def run(deed: GitDeed) -> dict[str, Any]:
    """Import what was chosen of the inspected commit."""
    repository = deed.repository
    if repository is None:
        raise RepositoryUnbound(name="")
    scope_keys = [repository.scope_key] if repository.scope_key else all_scopes()
    with whole(scope_keys, work="remote import") as held, inspected(repository, deed.arguments["commit"]) as found:
        staging, tree = found
        catch_up(repository)
        wanted = list(_chosen(tree.documents, deed.arguments["resource_ids"], deed.arguments["scope"]))
        sorted_out = differing(repository, wanted)
        caller, operation = by_git(Caller.for_job(deed)), _operation(deed)
        terms = Deed(NAME, reason=operation.reason, operation=operation, held=held)
        imported: list[str] = []
        refused: list[dict[str, str]] = []
        unchanged = len(sorted_out["same"])
        note(deed, done=0, total=len(wanted) - unchanged, operation=operation.pk)
        for document in [*sorted_out["changed"], *sorted_out["added"]]:
            try:
                scope_key, change = _change(document, staging, operation.reason)
                done = commit(caller, scope_key, [change], terms)
                if any(outcome.changed for outcome in done.outcomes):
                    imported.append(document.stable_id)
                else:
                    unchanged += 1  # It differs in what the ledger itself writes, such as the revision.
            except MemRelayError as failure:
                refused.append({"path": document.path, "resource_id": document.stable_id, "code": failure.code})
            note(deed, done=deed.done + 1)
        close_operation(operation)
    commit_root(repository.root)
    repository.refresh_from_db(fields=["head"])
    return {
        "imported": imported,
        "refused": refused,
        "unchanged": unchanged,
        **({} if deed.arguments["resource_ids"] else left_out(tree)),  # They cannot be chosen: nobody knows their ids.
        "commit": repository.head,
        "imported_from": deed.arguments["commit"],
    }


def _operation(deed: GitDeed) -> LogicalOperation:
    """The one logical operation of it; an attempt that was killed left it open."""
    if found := LogicalOperation.objects.filter(pk=deed.journal.get("operation", ""), state="open").first():
        return found
    reason = f"From the remote's commit {deed.arguments['commit'][:12]}. {deed.arguments.get('reason', '')}".strip()
    return open_operation(by_git(Caller.for_job(deed)), NAME, reason, job_id=deed.pk)


def _chosen(documents: Iterable[Document], resource_ids: list[str], scope_key: str) -> Iterable[Document]:
    for document in documents:
        if resource_ids and document.stable_id not in resource_ids:
            continue
        if scope_key and document.scope_key != scope_key:
            continue
        yield document


def _change(document: Document, staging: Repo, reason: str) -> tuple[str, RestoreVersion]:
    """A document goes where it lives today, or where the remote has it. One with a secret stays out (D-14)."""
    blob = staging[ObjectID(document.blob)]
    assert isinstance(blob, Blob)  # noqa: S101 - the tree was looked at
    if not texts.is_clean(blob.data):
        raise _Refused(SECRET)
    home = Memory.objects.filter(stable_id=document.stable_id).values_list("scope_id", flat=True).first()
    scope_key = home or document.scope_key
    if not is_alive(scope_key):
        raise _Refused(NO_SCOPE)
    change = RestoreVersion(
        memory_id=document.stable_id,
        document=blob.data,
        path=document.path,
        resource=Resource(document.resource),
        reason=reason,
    )
    return scope_key, change


class _Refused(MemRelayError):
    """A document that is not taken, by a code of another room."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code  # type: ignore[misc]  # Of this one.
