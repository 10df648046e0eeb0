"""Histories made anew for the other strategy: the same commits, over one folder of each tree, or over all of them together.

Author, time and message of every commit stay. Nothing is changed where it lies; new objects go to a new repository.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dulwich.objects import Commit, ObjectID
from dulwich.repo import Repo

from apps.memory_git.models import GitCommit
from apps.memory_git.repository.local import MANIFEST
from apps.memory_git.repository.objects import COMMIT, FOLDER, TREE, Entries, Staging


@dataclass
class Rewritten:
    """One new commit, and the rows of those it was made from."""

    sha: str
    sources: list[GitCommit]
    scopes: list[str]


@dataclass
class Target:
    """A repository that is being written."""

    staging: Staging
    tip: bytes | None = None
    tree: bytes | None = None
    made: list[Rewritten] = field(default_factory=list)
    copied: set[bytes] = field(default_factory=set)

    def commit(self, tree: bytes, template: Commit, sources: list[GitCommit], scopes: list[str]) -> None:
        lines = [b"tree " + tree, *([b"parent " + self.tip] if self.tip else [])]
        raw = template.as_raw_string()
        head, _blank, message = raw.partition(b"\n\n")
        lines += [line for line in head.split(b"\n") if not line.startswith((b"tree ", b"parent "))]
        self.tip = self.staging.add(COMMIT, b"\n".join(lines) + b"\n\n" + message)
        self.tree = tree
        self.made.append(Rewritten(self.tip.decode(), sources, scopes))

    def copy(self, source: Staging, sha: bytes | None) -> None:
        """A tree with everything below it, unless it was copied before."""
        waiting = [sha] if sha else []
        while waiting:
            one = waiting.pop()
            if one in self.copied:
                continue
            self.copied.add(one)
            kind, raw = source.raw(one)
            self.staging.add(kind, raw)
            if kind == TREE:
                waiting += [child for _mode, child in source.folder(one).values() if child not in self.copied]


def split(
    source: Repo, objects: Staging, rows: Iterable[GitCommit], folder: str, scope_key: str, target: Target
) -> None:
    """The history of one folder, as a repository of its own."""
    manifest = {name.encode(): target.staging.blob(content) for name, content in MANIFEST.items()}
    before: bytes | None = None
    for row in rows:
        commit = commit_in(source, row.sha)
        inside = objects.entry(bytes(commit.tree), folder.encode())
        touched = scope_key in [scope.scope_key for scope in row.scopes.all()]
        if inside == before and not touched:
            continue
        before = inside
        target.copy(objects, inside)
        target.commit(target.staging.changed(inside, dict(manifest)), commit, [row], [scope_key])


@dataclass
class Part:
    """One of several repositories that become one: its folder, and its commits with a number that orders them."""

    folder: str
    repo: Repo
    objects: Staging
    rows: list[tuple[int, GitCommit]]


def join(parts: list[Part], target: Target) -> None:
    """The histories of several repositories as one, in closing order; an operation in two of them is one commit."""
    tree = target.staging.changed(
        None, {name.encode(): target.staging.blob(content) for name, content in MANIFEST.items()}
    )
    for entries in _grouped(parts):
        for part, row in entries:
            commit = commit_in(part.repo, row.sha)
            inside = dict(part.objects.folder(bytes(commit.tree)))
            for name in MANIFEST:
                inside.pop(name.encode(), None)
            for _mode, child in inside.values():
                target.copy(part.objects, child)
            tree = put_folder(target.staging, tree, part.folder.encode(), inside)
        scopes = sorted({scope.scope_key for _part, row in entries for scope in row.scopes.all()})
        template = commit_in(entries[0][0].repo, entries[0][1].sha)
        target.commit(tree, template, [row for _part, row in entries], scopes)


def _grouped(parts: list[Part]) -> Iterator[list[tuple[Part, GitCommit]]]:
    merged = sorted(
        ((number, row.position, place, part, row) for place, part in enumerate(parts) for number, row in part.rows),
        key=lambda entry: entry[:3],
    )
    group: list[tuple[Part, GitCommit]] = []
    for _number, _position, _place, part, row in merged:
        if group and not (row.operation_id and row.operation_id == group[0][1].operation_id):
            yield group
            group = []
        group.append((part, row))
    if group:
        yield group


def put_folder(staging: Staging, tree: bytes | None, path: bytes, inside: Entries) -> bytes:
    """A tree with these entries as its folder at a path; without entries there is no folder."""
    name, _slash, rest = path.partition(b"/")
    entries = dict(staging.folder(tree))
    if rest:
        below = entries.get(name)
        made = put_folder(staging, below[1] if below and below[0] == FOLDER else None, rest, inside)
        inside = staging.folder(made)
    if inside:
        entries[name] = (FOLDER, staging.tree(inside))
    else:
        entries.pop(name, None)
    return staging.tree(entries)


def commit_in(repo: Repo, sha: str) -> Commit:
    found = repo[ObjectID(sha.encode())]
    assert isinstance(found, Commit)  # noqa: S101 - rows name commits
    return found
