"""The key that signs sessions and cursors: the operator's, else one that is made once and kept."""

import os
import secrets
import sys
from pathlib import Path

from django.conf import settings


def key_file() -> Path:
    return Path(settings.KEYS_FOLDER) / "secret_key"


def ensure_secret_key() -> None:
    """Make the key file (0600) if there is neither it nor a key of the operator's."""
    if not settings.SECRET_KEY_GIVEN and not key_file().exists():
        _write(key_file(), secrets.token_urlsafe(48))


def begin_anew_with_the_key() -> None:
    """Run this command again if its settings were read before the key was there: libraries have taken over the old one."""
    if not settings.SECRET_KEY_GIVEN and settings.SECRET_KEY != key_file().read_text(encoding="ascii").strip():
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - there is no shell


def _write(file: Path, key: str) -> None:
    # A rename, so that a crash leaves no half key; made durable, since a lost key signs everybody out.
    fresh = file.with_name(".secret_key.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, key.encode("ascii"))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    fresh.replace(file)
