"""Every file of a raw tree, within bounds; what must not be there refuses it whole."""

import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from dulwich.object_store import BaseObjectStore
from dulwich.objects import ObjectID, parse_tree

from apps.memory_git.trees.problems import LEFT_OUT, Problem, problem_of, unsafe

MOST_ENTRIES, DEEPEST, LONGEST_PATH = 200_000, 24, 1024
LARGEST_TREE, LARGEST_TOTAL = 16 * 2**20, 2 * 2**30
FOLDER, SYMLINK, SUBMODULE = 0o040000, 0o120000, 0o160000
FILES = (0o100644, 0o100755, 0o100664)
TREE, BLOB = 2, 3


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a tree: its path in the repository and its blob; and what is wrong with its name, if it is left out."""

    path: str
    blob: bytes
    problem: Problem | None = None


class Walk:
    """One walk through a tree, which counts what it meets."""

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
            if problem is not None and problem not in LEFT_OUT:
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
