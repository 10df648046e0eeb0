"""The first commit of everything there is, and the one that makes up for a time while Git was off (GIT-004, GIT-006)."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from dulwich.objects import Commit

from apps.base import clock
from apps.base.ids import new_id
from apps.base.text import lf
from apps.base.transactions import short_transaction
from apps.memories.ledger.operations import mark_closed
from apps.memories.models import LogicalOperation, Memory, Scope
from apps.memory_git.committing.gathering import Deed, End, Held, current, documents_of, held_by
from apps.memory_git.committing.making import Making
from apps.memory_git.committing.rebuilding import rebuilt, unlisted
from apps.memory_git.committing.rows import enter_large
from apps.memory_git.deeds import note
from apps.memory_git.errors import UnsafeTree
from apps.memory_git.leasing import all_scopes, whole
from apps.memory_git.migrating.rewriting import commit_in
from apps.memory_git.models import DocumentVersion, GitCommit, GitDeed, MemoryRepository, Strategy
from apps.memory_git.repository import local
from apps.memory_git.repository.opening import sound
from apps.memory_git.repository.repositories import ensure, folder_of, identity, mark_sound
from apps.memory_git.repository.roots import prefix_in, root_of
from apps.memory_git.switch import strategy_if_on
from apps.memory_git.trees.documents import validated

MOST_UNKNOWN = 200_000
BASELINE, RECOVERY = "git_baseline", "git_recovery"


def run(deed: GitDeed) -> dict[str, Any]:
    """Bring every repository to what the folders hold, under the lease of all scopes."""
    strategy = strategy_if_on()
    if not strategy:
        return {"commits": 0}
    with whole(all_scopes(), work="git baseline"):
        roots = scopes_by_root(strategy)
        note(deed, done=0, total=len(roots))
        made = 0
        for number, (root, scope_keys) in enumerate(sorted(roots.items()), start=1):
            repository = ensure(root, strategy, scope_keys[0] if scope_keys else "")
            made += catch_up(repository, scope_keys, deed.actor, deed.profile)
            note(deed, done=number)
    return {"commits": made, "repositories": len(roots)}


def scopes_by_root(strategy: str) -> dict[str, list[str]]:
    roots: dict[str, list[str]] = defaultdict(list)
    if strategy == Strategy.SINGLE:
        roots[""] = []
    for scope_key in Scope.objects.order_by("key").values_list("key", flat=True):
        roots[root_of(strategy, scope_key)].append(scope_key)
    return roots


def catch_up(repository: MemoryRepository, scope_keys: Sequence[str], actor: str, profile: str) -> int:
    """One commit of the difference between a repository and the documents as they are; none where there is none.

    The tree is built whole: whatever was done to the repository meanwhile, this is what it holds afterwards.
    """
    with sound(repository), local.locked(folder_of(repository)), local.opened(folder_of(repository)) as repo:
        making = WholeMaking(repository, repo, identity())
        deed = making.difference(scope_keys, actor, profile)
        if deed is not None:
            making.commit(deed)
            making.finish()
    mark_sound(repository)
    return 1 if deed is not None else 0


class WholeMaking(Making):
    """A pass that trusts nothing it finds but the objects."""

    def difference(self, scope_keys: Sequence[str], actor: str, profile: str) -> Deed | None:
        """The operation that makes up for it, recorded and closed; None where nothing differs."""
        is_first = self.tip is None
        self._forgive()
        ends = list(current(scope_keys))
        self.known = held_by(self.repository, [end.stable_id for end in ends])
        gone = self._gone({end.stable_id for end in ends})
        changed = self._differing([end for end in ends if self._differs(end)])
        scope_files = self._scope_files(scope_keys)
        stale = any(self.staging.entry(self.tree, path) != blob for path, blob in scope_files.items())
        if not (is_first or changed or gone or stale or self.entered):
            return None
        return Deed(
            _recorded(BASELINE if is_first else RECOVERY, actor, profile), None, list(scope_keys), [*changed, *gone]
        )

    def _forgive(self) -> None:
        """Commits that nobody knows are kept as they are; a history that was cut off goes on from its tip."""
        if self.tip == (self.repository.head.encode() or None):
            return
        unknown: list[Commit] = []
        at = self.tip
        while at is not None and len(unknown) < MOST_UNKNOWN:
            if GitCommit.objects.filter(repository=self.repository, sha=at.decode()).exists():
                break
            unknown.append(commit_in(self.repo, at.decode()))
            at = bytes(unknown[-1].parents[0]) if unknown[-1].parents else None
        before = self._tree_of(at) if at is not None else None
        for commit in reversed(unknown):
            self.entered.append(rebuilt(self.repository, self.staging, commit, before))
            before = bytes(commit.tree)
        known = [entry.operation_id for entry in self.entered]
        taken = GitCommit.objects.filter(repository=self.repository, operation_id__in=known)
        self.entered = unlisted(self.entered, set(taken.values_list("operation_id", flat=True)))
        if unknown:  # Before anything is compared with them.
            enter_large(self.repository, self.entered, 0, {})
            self.entered = []
        self.repository.head = self.tip.decode() if self.tip else ""
        MemoryRepository.objects.filter(pk=self.repository.pk).update(head=self.repository.head)

    def _is_held(self, end: End, held: Held | None) -> bool:
        return False  # Only what differs comes here.

    def _differs(self, end: End) -> bool:
        held = self.known.get(end.stable_id)
        if held is None or held.revision != end.revision:
            return True
        lies = self.staging.entry(self.tree, self._place(end.scope_key, end.path))
        return not end.withheld and lies != held.blob.encode()

    def _differing(self, ends: Sequence[End]) -> list[End]:
        """Those whose text lies there otherwise or elsewhere: after a rebuild the same text has another number."""
        same = {
            end.stable_id
            for end, document in documents_of(ends)
            if (held := self.known.get(end.stable_id)) is not None
            and (held.scope_key, held.path) == (end.scope_key, end.path)
            and self.staging.entry(self.tree, self._place(end.scope_key, end.path)) == self.staging.blob(lf(document))
        }
        return [end for end in ends if end.stable_id not in same]

    def _gone(self, present: set[str]) -> list[End]:
        rows = DocumentVersion.objects.filter(repository=self.repository).order_by(
            "stable_id", "-revision", "-commit_id"
        )
        seen: set[str] = set()
        gone: list[DocumentVersion] = []
        for version in rows.iterator(chunk_size=2000):
            if version.stable_id in seen or version.stable_id in present:
                continue
            seen.add(version.stable_id)
            if version.change != DocumentVersion.DELETED and version.blob:
                self.known[version.stable_id] = Held(version.revision, version.scope_key, version.path, version.blob)
                gone.append(version)
        kept = self._never_taken_in(gone)
        return [_deleted(version) for version in gone if version.stable_id not in kept]

    def _never_taken_in(self, gone: Sequence[DocumentVersion]) -> set[str]:
        """What a bootstrap left out by name is no document here, but nobody deleted it: it goes on lying in the tree."""
        ids = {version.stable_id for version in gone}
        ids -= set(Memory.objects.filter(stable_id__in=ids).values_list("stable_id", flat=True))
        if not ids or self.tree is None:
            return set()
        try:
            tree = validated(self.staging.store, self.tree, scope_key=self.repository.scope_key)
        except UnsafeTree:
            return set()  # No bootstrap would have taken anything of it in.
        paths = {one.path for one in tree.left_out}
        at = {one.stable_id: f"{prefix_in(self.repository.root, one.scope_key)}{one.path}" for one in gone}
        return {stable_id for stable_id in ids if at[stable_id] in paths}


def _deleted(version: DocumentVersion) -> End:
    return End(
        0, version.stable_id, version.resource, version.scope_key, version.revision + 1, version.path, "deleted", False,
        "delete", version.title,
    )  # fmt: skip


def _recorded(name: str, actor: str, profile: str) -> LogicalOperation:
    now = clock.to_milliseconds(clock.now())
    operation = LogicalOperation(id=new_id("op"), name=name, actor=actor, origin="git", profile=profile, opened_at=now)
    with short_transaction():
        mark_closed(operation, now)
        operation.save(force_insert=True)
    return operation
