"""Trees that come from outside, or from long ago: looked at before a byte of them is taken in.

The raw tree is read, never checked out. What could do harm, or leaves in doubt what the tree is, refuses it whole: the
failure names the first such thing, and where. One document that is not in order, or named as another system would not
have it, is left out by name. What is in order comes back as documents with their ids.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from dulwich.index import validate_path_element_hfs, validate_path_element_ntfs
from dulwich.object_store import BaseObjectStore
from dulwich.objects import ObjectID, parse_tree

from apps.base.transactions import outside_transactions
from apps.memories import documents, frontmatter
from apps.memories.scopes import SCOPE_FILE, folder_name
from apps.memory_git.errors import UnsafeTree
from apps.memory_git.roots import scope_of_path

MOST_ENTRIES, DEEPEST, LONGEST_PATH, LONGEST_NAME = 200_000, 24, 1024, 255
LARGEST_TREE, LARGEST_TOTAL = 16 * 2**20, 2 * 2**30
FOLDER, SYMLINK, SUBMODULE = 0o040000, 0o120000, 0o160000
FILES = (0o100644, 0o100755, 0o100664)
TREE, BLOB = 2, 3
WINDOWS = frozenset(
    ["con", "prn", "aux", "nul", *(f"{kind}{number}" for kind in ("com", "lpt") for number in range(1, 10))]
)
UNSEEN = ("Cc", "Cf", "Cs")  # Control characters and what turns text around.
OURS = frozenset([".gitignore", ".gitattributes", SCOPE_FILE])


class Problem(models.TextChoices):
    """What can be wrong with a tree: a word for programs, and one for people."""

    BAD_NAME = "bad_name", _("a name that leads out of its folder")
    DOTGIT = "dotgit", _("a name that stands for .git")
    NOT_UTF8 = "not_utf8", _("a name that is no UTF-8")
    NAME_TOO_LONG = "name_too_long", _("a name that is too long")
    CONTROL_CHARACTER = "control_character", _("a control character in a name")
    TRAILING_DOT_OR_SPACE = "trailing_dot_or_space", _("a name that ends with a dot or a space")
    WINDOWS_NAME = "windows_name", _("a name that Windows reserves")
    SUBMODULE = "submodule", _("a submodule")
    SYMLINK = "symlink", _("a symbolic link")
    BAD_MODE = "bad_mode", _("an entry that is neither file nor folder")
    CASE_TWINS = "case_twins", _("two names that are one on other systems")
    TOO_DEEP = "too_deep", _("folders inside each other too deeply")
    TOO_MANY_ENTRIES = "too_many_entries", _("too many entries")
    PATH_TOO_LONG = "path_too_long", _("a path that is too long")
    TOO_LARGE = "too_large", _("a file that is too large")
    TREE_TOO_LARGE = "tree_too_large", _("more bytes than are let in")
    DAMAGED = "damaged", _("an object that is missing or damaged")
    NOT_TEXT = "not_text", _("a document that is no UTF-8")
    BROKEN_FRONTMATTER = "broken_frontmatter", _("frontmatter that cannot be read")
    NO_ID = "no_id", _("a document without a usable stable_id")
    DUPLICATE_ID = "duplicate_id", _("a stable_id that two documents have")
    WRONG_MODE = "wrong_mode", _("a layout of the other strategy")


# Of a tree from outside: they concern one file, which does no harm as long as nobody writes it.
LEFT_OUT = frozenset(
    [
        *(Problem.NOT_UTF8, Problem.NAME_TOO_LONG, Problem.PATH_TOO_LONG, Problem.CONTROL_CHARACTER),
        *(Problem.TRAILING_DOT_OR_SPACE, Problem.WINDOWS_NAME, Problem.CASE_TWINS, Problem.TOO_LARGE),
        *(Problem.NOT_TEXT, Problem.BROKEN_FRONTMATTER, Problem.NO_ID, Problem.DUPLICATE_ID),
    ]
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a tree: its path in the repository and its blob; and what is wrong with its name, if it is left out."""

    path: str
    blob: bytes
    problem: Problem | None = None


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
    problem: Problem

    def told(self) -> dict[str, str]:
        return {"path": readable(self.path), "what": self.problem.value}


@dataclass
class Tree:
    documents: list[Document] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # Files that are no documents and none of ours: left alone.
    left_out: list[LeftOut] = field(default_factory=list)


def unsafe(problem: Problem, path: str) -> UnsafeTree:
    return UnsafeTree(problem=problem.label, what=problem.value, path=readable(path))


def readable(path: str) -> str:
    """A path for people: what would steer a terminal or turn the text around is spelled out."""
    return "".join(
        character.encode("unicode_escape").decode() if unicodedata.category(character) in UNSEEN else character
        for character in path
    )


@outside_transactions
def entries_of(store: BaseObjectStore, tree: bytes) -> list[Entry]:
    """Every file of a raw tree whose name is in order. Raises ``UnsafeTree`` at the first thing that must not be."""
    return [entry for entry in _Walk(store).files(tree) if entry.problem is None]


@outside_transactions
def validated(store: BaseObjectStore, tree: bytes, *, scope_key: str = "", strict: bool = True) -> Tree:
    """The documents of a tree: of one scope's repository, or (without a scope) of the one that holds everything.

    Raises ``UnsafeTree``. A tree of our own may hold heads with a line that cannot be read, and names that a person gave
    and another system would not, as the ledger keeps them: it is not looked at ``strict``, and nothing of it is left out.
    """
    walk = _Walk(store, strict=strict)
    found, seen = Tree(), defaultdict[str, list[tuple[str, Document]]](list)
    for entry in walk.files(tree):
        scope, path = place_of(entry.path, scope_key)
        if not _is_document(entry, scope, path):
            if entry.path not in OURS and not entry.path.endswith(f"/{SCOPE_FILE}"):
                found.ignored.append(readable(entry.path))
            continue
        try:
            document = _document(walk, entry, scope, path)
        except UnsafeTree as refusal:
            problem = Problem(refusal.facts["what"])
            if not strict or problem not in LEFT_OUT:
                raise
            found.left_out.append(LeftOut(entry.path, problem))
        else:
            seen[document.stable_id].append((entry.path, document))
    _sort_out(found, seen, strict)
    if found.left_out and not found.documents:
        raise unsafe(found.left_out[0].problem, found.left_out[0].path)
    if not scope_key and not found.documents and any(path.endswith(".md") for path in found.ignored):
        raise unsafe(Problem.WRONG_MODE, next(iter(found.ignored)))
    return found


def documents_at(store: BaseObjectStore, places: Iterable[tuple[str, bytes]], scope_key: str) -> Iterator[Document]:
    """The documents among some files of a tree of our own, by path and blob. Raises ``UnsafeTree``."""
    walk = _Walk(store, strict=False)
    for full, blob in places:
        scope, path = place_of(full, scope_key)
        entry = Entry(full, blob)
        if _is_document(entry, scope, path):
            yield _document(walk, entry, scope, path)


def _is_document(entry: Entry, scope_key: str, path: str) -> bool:
    """Also one that is left out for its name, which may hide its ending."""
    return (
        (entry.path.endswith(".md") or entry.problem is not None)
        and bool(scope_key)
        and not any(part.startswith(".") for part in path.split("/"))
    )


def _sort_out(found: Tree, seen: dict[str, list[tuple[str, Document]]], strict: bool) -> None:
    """Of documents with one id nobody can say which is the one."""
    for same in seen.values():
        if len(same) == 1:
            found.documents.append(same[0][1])
        elif strict:
            found.left_out += [LeftOut(path, Problem.DUPLICATE_ID) for path, _document in same]
        else:
            raise unsafe(Problem.DUPLICATE_ID, ", ".join(path for path, _document in same))


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


def _document(walk: "_Walk", entry: Entry, scope_key: str, path: str) -> Document:
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


class _Walk:
    def __init__(self, store: BaseObjectStore, *, strict: bool = True) -> None:
        self.store, self.strict = store, strict
        self.count = self.total = 0

    def files(self, tree: bytes) -> Iterator[Entry]:
        """Folders with a name to be left out are walked too: nothing that must not be hides in them."""
        waiting: list[tuple[bytes, str, int, Problem | None]] = [(tree, "", 0, None)]
        while waiting:
            sha, base, depth, above = waiting.pop()
            if depth > DEEPEST:
                raise unsafe(Problem.TOO_DEEP, base)
            for name, mode, child, problem in self._folder(sha, base):
                path = f"{base}{name}"
                if mode == FOLDER:
                    waiting.append((child, f"{path}/", depth + 1, above or problem))
                elif mode in FILES:
                    yield Entry(path, child, above or problem)
                else:
                    refused = {SUBMODULE: Problem.SUBMODULE, SYMLINK: Problem.SYMLINK}.get(mode, Problem.BAD_MODE)
                    raise unsafe(refused, path)

    def content(self, entry: Entry) -> bytes:
        """A blob's bytes, within the bounds of a document and of all of them."""
        kind, content = self._raw(entry.blob, entry.path)
        if kind != BLOB:
            raise unsafe(Problem.DAMAGED, entry.path)
        self.total += len(content)
        if len(content) > settings.IMPORT_FILE_BYTES:
            raise unsafe(Problem.TOO_LARGE, entry.path)
        if self.total > LARGEST_TOTAL:
            raise unsafe(Problem.TREE_TOO_LARGE, entry.path)
        return content

    def _folder(self, sha: bytes, base: str) -> Iterator[tuple[str, int, bytes, Problem | None]]:
        kind, raw = self._raw(sha, base)
        if kind != TREE or len(raw) > LARGEST_TREE:
            raise unsafe(Problem.DAMAGED, base or "/")
        entries = self._parsed(raw, base)
        shown = [raw_name.decode("utf-8", "backslashreplace") for raw_name, _mode, _child in entries]
        twins = Counter(map(_folded, shown))
        for (raw_name, mode, child), name in zip(entries, shown, strict=True):
            self.count += 1
            if self.count > MOST_ENTRIES:
                raise unsafe(Problem.TOO_MANY_ENTRIES, base or "/")
            problem = problem_of(raw_name, strict=self.strict)
            if problem is None and len(f"{base}{name}".encode()) > LONGEST_PATH:
                problem = Problem.PATH_TOO_LONG
            if problem is None and twins[_folded(name)] > 1:
                problem = Problem.CASE_TWINS
            if problem is not None and not (self.strict and problem in LEFT_OUT):
                raise unsafe(problem, f"{base}{name}"[:200])
            yield name, mode, child, problem

    def _parsed(self, raw: bytes, base: str) -> list[tuple[bytes, int, bytes]]:
        try:
            entries = [(bytes(name), mode, bytes(sha)) for name, mode, sha in parse_tree(raw, sha_len=20, strict=True)]
        except (
            Exception
        ) as error:  # dulwich raises many kinds, its Rust part others: a tree that does not parse is one thing.
            raise unsafe(Problem.DAMAGED, base or "/") from error
        if len({name for name, _mode, _sha in entries}) != len(entries):
            raise unsafe(Problem.CASE_TWINS, base or "/")
        return entries

    def _raw(self, sha: bytes, path: str) -> tuple[int, bytes]:
        try:
            return self.store.get_raw(ObjectID(sha))
        except (KeyError, ValueError):
            raise unsafe(Problem.DAMAGED, path or "/") from None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def problem_of(name: bytes, *, strict: bool = True) -> Problem | None:
    """What is wrong with one name of a tree, if anything; ``strict``: on any system, not only on this one."""
    if name in (b"", b".", b"..") or b"/" in name or b"\0" in name or (strict and _leads_out(name)):
        return Problem.BAD_NAME
    if len(name) > LONGEST_NAME:
        return Problem.NAME_TOO_LONG
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return Problem.NOT_UTF8
    if not validate_path_element_ntfs(name) or not validate_path_element_hfs(name):
        return Problem.DOTGIT
    if text.lower() == ".gitmodules":
        return Problem.SUBMODULE
    return _problem_elsewhere(text) if strict else None


def _leads_out(name: bytes) -> bool:
    """Where a backslash parts folders."""
    return name.startswith(b"\\") or b".." in name.split(b"\\")


def _problem_elsewhere(text: str) -> Problem | None:
    if any(unicodedata.category(character) in UNSEEN for character in text):
        return Problem.CONTROL_CHARACTER
    if text != text.rstrip(" ."):
        return Problem.TRAILING_DOT_OR_SPACE
    if text.partition(".")[0].lower() in WINDOWS or any(character in '<>:"|?*\\' for character in text):
        return Problem.WINDOWS_NAME
    return None
