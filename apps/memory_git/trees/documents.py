"""The documents of a tree, with their ids, and what of it is left out or left alone."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from dulwich.object_store import BaseObjectStore

from apps.base.transactions import outside_transactions
from apps.memories import documents, frontmatter
from apps.memories.scopes import SCOPE_FILE, folder_name
from apps.memory_git.errors import UnsafeTree
from apps.memory_git.repository.roots import scope_of_path
from apps.memory_git.trees.problems import LEFT_OUT, Problem, readable, unsafe
from apps.memory_git.trees.walking import Entry, Walk

OURS = frozenset([".gitignore", ".gitattributes", SCOPE_FILE])


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown document of a tree, in a scope's folder."""

    scope_key: str
    path: str  # In its scope.
    blob: bytes
    stable_id: str
    resource: str
    title: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that is not taken in, and why."""

    path: str  # In the repository.
    blob: bytes
    problem: Problem

    def told(self) -> dict[str, str]:
        return {"path": readable(self.path), "what": self.problem.value}


@dataclass
class Tree:
    documents: list[Document] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # Files that are no documents and none of ours: left alone.
    left_out: list[LeftOut] = field(default_factory=list)


@outside_transactions
def entries_of(store: BaseObjectStore, tree: bytes) -> list[Entry]:
    """Every file of a raw tree whose name is in order. Raises ``UnsafeTree`` at the first thing that must not be."""
    return [entry for entry in Walk(store).files(tree) if entry.problem is None]


@outside_transactions
def validated(store: BaseObjectStore, tree: bytes, *, scope_key: str = "", strict: bool = True) -> Tree:
    """The documents of a tree: of one scope's repository, or (without a scope) of the one that holds everything.

    Raises ``UnsafeTree``. A tree of our own may hold heads with a line that cannot be read, and names that a person gave
    and another system would not, as the ledger keeps them: it is not looked at ``strict``.
    """
    walk = Walk(store, strict=strict)
    found = _looked_at(walk, walk.files(tree), scope_key)
    if found.left_out and not found.documents:
        raise unsafe(found.left_out[0].problem, found.left_out[0].path)
    if not scope_key and not found.documents and any(path.endswith(".md") for path in found.ignored):
        raise unsafe(Problem.WRONG_MODE, next(iter(found.ignored)))
    return found


def validated_at(store: BaseObjectStore, places: Iterable[tuple[str, bytes]], scope_key: str) -> Tree:
    """The same of some files of a tree of our own, by path and blob."""
    return _looked_at(Walk(store, strict=False), (Entry(path, blob) for path, blob in places), scope_key)


def _looked_at(walk: Walk, entries: Iterable[Entry], scope_key: str) -> Tree:
    found, seen = Tree(), defaultdict[str, list[tuple[Entry, Document]]](list)
    for entry in entries:
        scope, path = place_of(entry.path, scope_key)
        if not _is_document(entry, scope, path):
            if entry.path not in OURS and not entry.path.endswith(f"/{SCOPE_FILE}"):
                found.ignored.append(readable(entry.path))
            continue
        try:
            document = _document(walk, entry, scope, path)
        except UnsafeTree as refusal:
            problem = Problem(refusal.facts["what"])
            if problem not in LEFT_OUT:
                raise
            found.left_out.append(LeftOut(entry.path, entry.blob, problem))
        else:
            seen[document.stable_id].append((entry, document))
    for same in seen.values():
        if len(same) == 1:
            found.documents.append(same[0][1])
        else:  # Nobody can say which is the one.
            found.left_out += [LeftOut(entry.path, entry.blob, Problem.DUPLICATE_ID) for entry, _document in same]
    return found


def _is_document(entry: Entry, scope_key: str, path: str) -> bool:
    """Also one that is left out for its name, which may hide its ending."""
    return (
        (entry.path.endswith(".md") or entry.problem is not None)
        and bool(scope_key)
        and not any(part.startswith(".") for part in path.split("/"))
    )


def place_of(path: str, scope_key: str) -> tuple[str, str]:
    """The scope a path belongs to, and the path in it; no scope where it lies in none."""
    if not scope_key:
        parts = path.split("/")
        scope = scope_of_path(path)
        return scope, "/".join(parts[len(folder_name(scope).split("/")) :]) if scope else path
    if scope_key.startswith("global/") and folder_name(scope_key).startswith("profiles/"):
        inside = path.removeprefix("global/")
        return (scope_key, inside) if inside != path else ("", path)
    return scope_key, path


def _document(walk: Walk, entry: Entry, scope_key: str, path: str) -> Document:
    if entry.problem is not None:
        raise unsafe(entry.problem, entry.path)
    content = walk.content(entry)
    try:
        _parts, metadata = frontmatter.parse(content)
    except frontmatter.NotUtf8:
        raise unsafe(Problem.NOT_TEXT, entry.path) from None
    if metadata.problems and walk.strict:
        raise unsafe(Problem.BROKEN_FRONTMATTER, entry.path)
    facts = documents.read_facts(content, fallback_title=path.rpartition("/")[2].removesuffix(".md"))
    if not facts.stable_id:
        raise unsafe(Problem.NO_ID, entry.path)
    kind = metadata.text("type")
    resource = kind if kind in ("checkpoint", "curated") else "memory"
    return Document(scope_key, path, entry.blob, facts.stable_id, resource, facts.title)
