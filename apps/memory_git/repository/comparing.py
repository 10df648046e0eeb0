"""What differs between two trees, and a document as it lies in one. Reads objects only; no rows here."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from apps.base.transactions import outside_transactions
from apps.memories.differences import difference
from apps.memories.documents import read_facts
from apps.memory_git.repository.objects import FOLDER, Staging

MOST_FILES = 100
MOST_CHARACTERS = 200_000
Wanted = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Changed:
    """A path that differs: what lies there in the older and in the newer tree; None where nothing does."""

    path: str
    old: bytes | None
    new: bytes | None
    old_path: str = ""

    @property
    def change(self) -> str:
        if self.old_path:
            return "moved"
        if self.old is None:
            return "added"
        return "deleted" if self.new is None else "modified"


def changed_paths(objects: Staging, old: bytes | None, new: bytes | None) -> Iterator[Changed]:
    """Every file that differs, in the order of paths; only folders that differ are opened."""
    waiting: list[tuple[str, bytes | None, bytes | None]] = [("", old, new)]
    while waiting:
        base, before, after = waiting.pop()
        was, is_now = objects.folder(before), objects.folder(after)
        below = []
        for name in sorted({*was, *is_now}):
            one, other = was.get(name), is_now.get(name)
            if one == other:
                continue
            path = f"{base}{name.decode('utf-8', 'replace')}"
            folders = [entry[1] if entry and entry[0] == FOLDER else None for entry in (one, other)]
            files = [entry[1] if entry and entry[0] != FOLDER else None for entry in (one, other)]
            if any(folders):
                below.append((f"{path}/", folders[0], folders[1]))
            if files[0] != files[1]:
                yield Changed(path, files[0], files[1])
        waiting += reversed(below)


def _changed_at(objects: Staging, old: bytes | None, new: bytes | None, places: Collection[str]) -> Iterator[Changed]:
    for path in sorted(places):
        before, after = objects.entry(old, path.encode()), objects.entry(new, path.encode())
        if before != after:
            yield Changed(path, before, after)


def with_moves(changes: list[Changed]) -> list[Changed]:
    """The same, with a file that only changed its place as one change."""
    gone = {change.old: change for change in changes if change.new is None}
    moved: list[Changed] = []
    taken: set[str] = set()
    for change in changes:
        source = gone.get(change.new) if change.old is None else None
        if source is not None and source.path not in taken:
            taken.add(source.path)
            moved.append(Changed(change.path, source.old, change.new, source.path))
        else:
            moved.append(change)
    return [change for change in moved if not (change.new is None and change.path in taken)]


@dataclass(frozen=True, slots=True)
class Shown:
    """One changed file as an answer shows it."""

    changed: Changed
    stable_id: str
    added: int = 0
    removed: int = 0
    difference: str = ""
    truncated: bool = True


@outside_transactions
def described(
    objects: Staging, old: bytes | None, new: bytes | None, wanted: Wanted, places: Collection[str] | None = None
) -> tuple[list[Shown], int]:
    """The files that differ with their unified differences, as far as an answer can hold them; how many more there are.

    ``places``: the only paths that matter, so that nothing else is compared.
    """
    changes = changed_paths(objects, old, new) if places is None else _changed_at(objects, old, new, places)
    seen = with_moves([change for change in changes if wanted(change.path)])
    shown: list[Shown] = []
    left = MOST_CHARACTERS
    for change in seen[:MOST_FILES]:
        before, after = _content(objects, change.old), _content(objects, change.new)
        stable_id = read_facts(after or before, fallback_title="").stable_id
        if left <= 0:
            shown.append(Shown(change, stable_id))
            continue
        texts = [content.decode("utf-8", "replace") for content in (before, after)]
        found = difference(texts[0], texts[1], change.old_path or change.path, change.path)
        left -= len(found.text)
        shown.append(Shown(change, stable_id, found.added, found.removed, found.text, found.truncated))
    return shown, max(0, len(seen) - MOST_FILES)


def _content(objects: Staging, blob: bytes | None) -> bytes:
    return objects.content(blob) if blob else b""
