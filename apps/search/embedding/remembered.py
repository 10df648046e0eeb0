"""Small facts about models, kept beside them: what a folder held, how many numbers an endpoint gives.

Without them a folder that is gone for an hour would look like another model, and everything would be embedded anew.
"""

import hashlib
from contextlib import suppress
from pathlib import Path

from django.conf import settings


def remember(subject: str, fact: str) -> None:
    file = _file(subject)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if remembered(subject) != fact:
        fresh = file.with_suffix(".new")
        fresh.write_text(fact, encoding="utf-8")
        fresh.replace(file)


def remembered(subject: str) -> str:
    """The fact; empty where none was noted."""
    with suppress(OSError, ValueError):
        return _file(subject).read_text(encoding="utf-8")
    return ""


def _file(subject: str) -> Path:
    digest = hashlib.sha256(subject.encode()).hexdigest()[:24]
    return Path(settings.STATE_FOLDER) / "cache" / "models" / "known" / digest
