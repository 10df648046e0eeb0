"""Static files are gathered once for each state of the sources, not at each start."""

import fcntl
import hashlib
import os
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def gather_static_files() -> bool:
    """Run ``collectstatic`` if any source changed since the last time; say whether it ran."""
    root = Path(settings.STATIC_ROOT)
    stamp, state = root / ".gathered", _state_of_sources()
    if _read(stamp) == state:
        return False
    # These files are public and belong to the program: a private umask must not hide them from its other users.
    mask = os.umask(0o022)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with open(root / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _read(stamp) == state:
                return False
            # Cleared first: a source whose new state has an older date would not be copied over the old one.
            call_command("collectstatic", interactive=False, clear=True, verbosity=0)
            stamp.write_text(state, encoding="ascii")
    finally:
        os.umask(mask)
    return True


def _state_of_sources() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda found: found[0]):
            found = os.stat(storage.path(path))
            digest.update(f"{path} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _read(file: Path) -> str:
    return file.read_text(encoding="ascii") if file.exists() else ""
