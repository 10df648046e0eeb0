"""Folders of this machine: which ones a caller may name, and the Markdown files that lie in one."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from django.conf import settings
from django.utils.translation import gettext as _

from apps.base.text import nfc
from apps.base.transactions import outside_transactions
from apps.memories.errors import FolderRefused
from apps.operations.caller import Caller, CallerKind

MARKDOWN = (".md", ".markdown")
PRIVATE = 0o700

Place = tuple[bytes, ...]  # A path by its parts: the order in which files are taken.


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source folder; with a ``problem`` it is only told of."""

    path: str  # As the file system spells it, with forward slashes.
    size: int = 0
    modified: float = 0.0
    problem: str = ""


def readable_folder(caller: Caller, folder: str) -> Path:
    """An existing folder that this caller may have read. Raises ``FolderRefused``."""
    path = _resolved(folder)
    _check_allowed(caller, path)
    if not path.is_dir():
        raise FolderRefused(reason=_("there is no such folder."))
    if not os.access(path, os.R_OK | os.X_OK):
        raise FolderRefused(reason=_("the server may not read it."))
    if path.is_relative_to(_resolved(settings.MEMORIES_FOLDER)) or _resolved(settings.DATA_FOLDER).is_relative_to(path):
        raise FolderRefused(reason=_("it holds the server's own data."))
    return path


def empty_folder(caller: Caller, folder: str) -> Path:
    """A folder with nothing in it, made if it is missing, that this caller may have written. Raises ``FolderRefused``."""
    path = _resolved(folder)
    _check_allowed(caller, path)
    if Path(folder).is_symlink():
        raise FolderRefused(reason=_("it is a symbolic link."))
    if any(path.is_relative_to(_resolved(own)) for own in (settings.MEMORIES_FOLDER, settings.STATE_FOLDER)):
        raise FolderRefused(reason=_("it lies in the server's own data."))
    try:
        path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        with os.scandir(path) as entries:
            is_empty = next(entries, None) is None
    except OSError as error:
        raise FolderRefused(reason=_("the server may not write there.")) from error
    if not is_empty:
        raise FolderRefused(reason=_("it is not empty."))
    return path


def _resolved(folder: str | Path) -> Path:
    try:
        return Path(folder).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise FolderRefused(reason=_("this is no path.")) from error


def _check_allowed(caller: Caller, path: Path) -> None:
    """Whoever sits at the server's terminal may name any folder; the others those that the operator opened."""
    if caller.kind is CallerKind.COMMAND:
        return
    if not any(path.is_relative_to(_resolved(allowed)) for allowed in settings.IMPORT_FOLDERS):
        raise FolderRefused(reason=_("it is not one of the folders that the operator opened."))


@outside_transactions
def source_files(root: Path) -> list[SourceFile]:
    """Every Markdown file below ``root``, in the order of their places; dot entries and other files are none of ours.

    Two names that differ only in their Unicode form are one name: the second is only told of.
    """
    names: set[str] = set()
    found: list[SourceFile] = []
    for file in _walk(root, ""):
        name = nfc(file.path)
        twice = name in names and not file.problem
        names.add(name)
        found.append(replace(file, problem="name_twice") if twice else file)
    return found


def place_of(path: str) -> Place:
    """Where a path stands in the order of ``source_files``."""
    return tuple(os.fsencode(path).split(b"/"))


def as_position(path: str) -> str:
    """A path as a row can hold it, whatever bytes it has."""
    return quote(os.fsencode(path))


def place_at(position: str) -> Place:
    """The place that ``as_position`` noted; what comes before the first file is the empty one."""
    return tuple(unquote_to_bytes(position).split(b"/")) if position else ()


def shown_path(path: str) -> str:
    """A path for people: bytes that are no UTF-8 show as replacement characters."""
    return nfc(os.fsencode(path).decode("utf-8", "replace"))


def _walk(root: Path, folder: str) -> Iterator[SourceFile]:
    """Depth first, by name; without recursion, since folders can be nested deeper than calls."""
    waiting = [_entries(root, folder)]
    while waiting:
        met = next(waiting[-1], None)
        if met is None:
            waiting.pop()
        elif isinstance(met, SourceFile):
            yield met
        else:
            waiting.append(_entries(root, met))


def _entries(root: Path, folder: str) -> Iterator[SourceFile | str]:
    """What one folder holds: its files, and the paths of its folders."""
    try:
        entries = sorted(os.scandir(root / folder), key=lambda entry: os.fsencode(entry.name))
    except OSError:
        yield SourceFile(folder, problem="unreadable")
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        path = f"{folder}/{entry.name}" if folder else entry.name
        is_markdown = entry.name.lower().endswith(MARKDOWN)
        if entry.is_symlink():
            if is_markdown or entry.is_dir():
                yield SourceFile(path, problem="symlink")
        elif entry.is_dir(follow_symlinks=False):
            yield path
        elif is_markdown and entry.is_file(follow_symlinks=False):
            yield _seen(entry, path)


def _seen(entry: "os.DirEntry[str]", path: str) -> SourceFile:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return SourceFile(path, problem="unreadable")
    if not _is_utf8(path):
        return SourceFile(path, problem="name_not_utf8")
    problem = "too_large" if status.st_size > settings.IMPORT_FILE_BYTES else ""
    return SourceFile(path, status.st_size, status.st_mtime, problem)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
