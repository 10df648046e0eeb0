"""The key that signs sessions and cursors: the operator's, else one that is made once and kept."""

import os
import secrets
from pathlib import Path

from django.conf import settings


def ensure_secret_key() -> None:
    """Make the key file (0600) if there is neither it nor a key of the operator's; use it from now on."""
    if settings.SECRET_KEY_GIVEN:
        return
    file = Path(settings.KEYS_FOLDER) / "secret_key"
    if not file.exists():
        _write(file, secrets.token_urlsafe(48))
    settings.SECRET_KEY = file.read_text(encoding="ascii").strip()


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
