"""Names of Markdown files: readable slugs, and the rules for paths that people and agents give.

A path that passes here can be checked out by Git, opened by Obsidian and copied to a disk on every system. Files that
already lie on disk are not judged by these rules. Whether two paths differ only in case is for the database to refuse.
"""

import re
import unicodedata

from django.utils.translation import gettext as _

from apps.base.text import (
    DEVICE_NAMES,
    SLUG_BYTES,
    SLUG_CHARACTERS,
    UNTITLED,
    nfc,
    same_slug_key,
    slug_for,
    with_suffix,
)

__all__ = [
    "RESERVED_SLUGS",
    "SLUG_BYTES",
    "SLUG_CHARACTERS",
    "UNTITLED",
    "safe_path_reason",
    "same_slug_key",
    "slug_for",
    "with_suffix",
]

# A workspace's curated documents are called so; nothing else there takes these names (L-16).
RESERVED_SLUGS = frozenset("overview current-state decisions timeline tasks glossary".split())
PATH_BYTES = 900
SEGMENT_BYTES = 255  # What Linux, macOS and Windows grant one name.

_HIDDEN_CATEGORIES = frozenset(["Cc", "Cs", "Zl", "Zp"])
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')
_SHORT_NAME = re.compile(r"(?i)~[0-9]+(\.|$)")  # GIT~1 is .git to Windows.
_DRIVE = re.compile(r"[A-Za-z]:")


def safe_path_reason(path: str) -> str | None:
    """Why ``path`` cannot be the place of a Markdown file inside a scope; ``None`` when it can.

    Put the path into NFC first (``nfc``): two forms of one name would be two files.
    """
    if not path:
        return _("The path is empty.")
    if any(unicodedata.category(character) in _HIDDEN_CATEGORIES for character in path):
        return _("The path holds control characters.")
    if "\\" in path:
        return _("The path holds a backslash; use / between folders.")
    if path[0] == "/" or path[0] == "~" or _DRIVE.match(path):
        return _("The path is absolute; give it relative to its scope.")
    if path != nfc(path):
        return _("The path is not in Unicode form NFC.")
    if len(path.encode()) > PATH_BYTES:
        return _("The path is longer than {limit} bytes.").format(limit=PATH_BYTES)
    for segment in path.split("/"):
        if reason := _segment_reason(segment):
            return reason
    if not path.endswith(".md"):
        return _("The path does not end with .md.")
    return None


def _segment_reason(segment: str) -> str | None:
    visible = "".join(character for character in segment if unicodedata.category(character) != "Cf")
    if not visible.strip():
        return _("The path has a folder or file without a name.")
    if segment in (".", ".."):
        return _("The path holds . or .. as a folder.")
    # Some file systems do not see format characters, so that a hidden one cannot shield the dot.
    if visible.startswith("."):
        return _("Names that start with a dot are reserved: {name}.").format(name=segment)
    if segment[0].isspace() or segment[-1].isspace() or segment.endswith("."):
        return _("A name starts or ends with a space or ends with a dot: {name}.").format(name=segment)
    if _NOT_ON_WINDOWS.search(segment) or _SHORT_NAME.search(segment):
        return _("A name holds characters that Windows cannot store: {name}.").format(name=segment)
    if segment.split(".")[0].rstrip().casefold() in DEVICE_NAMES:
        return _("A name is reserved for a device on Windows: {name}.").format(name=segment)
    if len(segment.encode()) > SEGMENT_BYTES:
        return _("A name is longer than {limit} bytes.").format(limit=SEGMENT_BYTES)
    return None
