"""A repository on disk: made, opened, locked, and its branch moved. No rows here.

Everything goes past Git's index and work tree: no hook, filter or configuration of the machine's is read (D-20).
"""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils.translation import gettext_lazy as _
from dulwich.errors import NotGitRepository
from dulwich.file import FileLocked
from dulwich.ignore import IgnoreFilterManager
from dulwich.object_store import DiskObjectStore
from dulwich.objects import ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from apps.base.faults import fault
from apps.base.transactions import outside_transactions
from apps.leases.locks import file_lock
from apps.memory_git.errors import NestedRepository, RepositoryBroken, RepositoryLocked
from apps.memory_git.repository.objects import Identity, Staging

GIT = ".git"
LOCK = "memrelay.lock"
MOVING, AT_REST = b"1", b"0"  # What stands in it.
BUILDING = ".memrelay-git-"
STALE_SECONDS = 60.0
LOCK_SECONDS = 30.0
LOCKED_FILES = ("HEAD.lock", "packed-refs.lock", "index.lock", "config.lock")
IGNORED = b"""\
# Written by MemRelay: only Markdown and its manifests belong in here.
**/.memrelay/*
!**/.memrelay/scope.json
.memrelay-git-*
*.sqlite3*
*.db
*.lock
*.tmp
*.part
*~
.*.sw?
.DS_Store
.env
*.pem
*.key
"""
ATTRIBUTES = b"""\
# Written by MemRelay: every system gets the same line ends.
*.md text eol=lf
*.json text eol=lf
*.yaml text eol=lf
*.yml text eol=lf
.gitignore text eol=lf
.gitattributes text eol=lf
"""
MANIFEST = {".gitattributes": ATTRIBUTES, ".gitignore": IGNORED}


def exists(folder: Path) -> bool:
    return (folder / GIT / "HEAD").is_file()


@outside_transactions
def make(folder: Path, branch: str) -> None:
    """An empty repository at a folder. Complete or not there: it is built beside its place and moved in."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{BUILDING}*"):
        shutil.rmtree(left, ignore_errors=True)
    building = folder / f"{BUILDING}{secrets.token_hex(4)}"
    building.mkdir()
    repo = Repo.init(building, default_branch=branch.encode(), symlinks=False)
    try:
        config = repo.get_config()
        for section, name, value in (
            ((b"gc",), b"auto", b"0"),
            ((b"core",), b"autocrlf", b"false"),
            ((b"core",), b"filemode", b"false"),
        ):
            config.set(section, name, value)
        config.write_to_path()
    finally:
        repo.close()
    write_manifest(folder)
    os.rename(building / GIT, folder / GIT)
    building.rmdir()


def write_manifest(folder: Path) -> None:
    """``.gitignore`` and ``.gitattributes`` (GIT-020, GIT-021); what a person added to them stays."""
    for name, content in MANIFEST.items():
        file = folder / name
        if file.is_symlink() or file.exists():
            continue
        temporary = folder / f"{name}.{secrets.token_hex(4)}.tmp"
        temporary.write_bytes(content)
        os.replace(temporary, file)


@contextmanager
def opened(folder: Path) -> Iterator[Repo]:
    """Raises ``RepositoryBroken`` where there is none."""
    try:
        repo = Repo(folder)
    except NotGitRepository:
        raise RepositoryBroken(name=folder.name, problem=_("there is no repository any more")) from None
    try:
        yield repo
    finally:
        repo.close()


@contextmanager
def locked(folder: Path, *, timeout: float = LOCK_SECONDS) -> Iterator[None]:
    """The repository's own lock: after the scope's, before the transaction. Raises ``LockTaken``, ``RepositoryBroken``."""
    if not exists(folder):
        raise RepositoryBroken(name=folder.name, problem=_("there is no repository any more"))
    with file_lock(folder / GIT / LOCK, timeout=timeout):
        yield


def staging(repo: Repo) -> Staging:
    store = repo.object_store
    assert isinstance(store, DiskObjectStore)  # noqa: S101 - a repository on disk has one
    return Staging(store)


def tip(repo: Repo, branch: str) -> bytes | None:
    try:
        return bytes(repo.refs[_ref(branch)])
    except KeyError:
        return None


def move_branch(repo: Repo, branch: str, old: bytes | None, new: bytes, who: Identity, message: str) -> None:
    """Let the branch point to the new commit, if it still points to the old one. The caller holds the lock.

    Git's lock files are not given back by a killed process. The mark in ours tells that one was killed in here: then they
    are nobody's. Any other is somebody else's until it is old. Raises ``RepositoryLocked``.
    """
    control = Path(repo.controldir())
    mark = control / LOCK
    if mark.read_bytes() == MOVING:
        _unlock(control, branch, older_than=0)
    _set(mark, MOVING)
    fault("git-before-ref")
    line = message.splitlines()[0].encode()
    try:
        moved = _moved(repo, branch, old, new, who, line)
    except FileLocked:
        if not _unlock(control, branch, older_than=STALE_SECONDS):
            raise RepositoryLocked(name=Path(repo.path).name) from None
        moved = _moved(repo, branch, old, new, who, line)
    finally:
        _set(mark, AT_REST)
    if not moved:
        raise RepositoryLocked(name=Path(repo.path).name)
    fault("git-after-ref")


def _set(mark: Path, content: bytes) -> None:
    """Of one length always: the file system has nothing to note but the byte."""
    descriptor = os.open(mark, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.pwrite(descriptor, content, 0)
    finally:
        os.close(descriptor)


def _moved(repo: Repo, branch: str, old: bytes | None, new: bytes, who: Identity, line: bytes) -> bool:
    if old is None:  # ``set_if_equals`` without an old value would overwrite whatever is there.
        return bool(repo.refs.add_if_new(_ref(branch), ObjectID(new), committer=bytes(who), message=line))
    return bool(repo.refs.set_if_equals(_ref(branch), ObjectID(old), ObjectID(new), committer=bytes(who), message=line))


def _unlock(control: Path, branch: str, *, older_than: float) -> bool:
    """Remove lock files that nobody holds; say whether there were any."""
    removed = False
    for name in (f"refs/heads/{branch}.lock", *LOCKED_FILES):
        file = control / name
        try:
            if time.time() - file.lstat().st_mtime >= older_than:
                file.unlink()
                removed = True
        except FileNotFoundError:
            continue
    return removed


def refuse_nested(folder: Path, memories: Path, *, own: set[Path]) -> None:
    """Raise ``NestedRepository`` where a repository that is not ours lies above or below a root (GIT-018).

    A checkout further up that ignores the data folder, as MemRelay's own does, does not count it as its work tree.
    """
    for place in [folder, *folder.parents]:
        if place in own or not os.path.lexists(place / GIT):
            continue
        if place == memories or place.is_relative_to(memories):
            raise NestedRepository(place=str(place.relative_to(memories)))
        if not _ignores(place, memories):
            raise NestedRepository(place="..")
    for place in _below(folder):
        if place not in own and os.path.lexists(place / GIT):
            raise NestedRepository(place=str(place.relative_to(memories)))


def _ignores(checkout: Path, folder: Path) -> bool:
    try:
        with Repo(checkout) as repo:
            manager = IgnoreFilterManager.from_repo(repo)
            return bool(manager.is_ignored(f"{folder.relative_to(checkout).as_posix()}/"))
    except (NotGitRepository, OSError):
        return True  # Something of the name that is no repository holds no work tree.


def _below(folder: Path) -> Iterator[Path]:
    """Every folder below, without following links. Our own folders are small; a person's may be anywhere."""
    for current, names, _files in os.walk(folder):
        names[:] = [name for name in names if name not in (GIT, ".memrelay") and not name.startswith(BUILDING)]
        if Path(current) != folder:
            yield Path(current)


def _ref(branch: str) -> Ref:
    return Ref(f"refs/heads/{branch}".encode())
