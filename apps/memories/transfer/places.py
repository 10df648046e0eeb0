"""Where an imported file lies in its scope: its own folders and name, made fit for every system. Pure."""

import re
import unicodedata
from pathlib import PurePosixPath

from apps.base.text import DEVICE_NAMES, UNTITLED, nfc
from apps.memories.slugs import safe_path_reason

AREA = "memories"
SEGMENT_BYTES = 200  # Leaves room for a suffix where two names collide.
PATH_BYTES = 860

_NOT_EVERYWHERE = re.compile(r'[<>:"|?*\\]')
_SHORT_NAME = re.compile(r"~(?=[0-9])")
_UNSEEN = frozenset(["Cc", "Cs", "Zl", "Zp", "Cf"])


def place_for(path: str) -> str | None:
    """``memories/<folder>/<name>.md`` for a relative path; ``None`` where no such name can be kept (far too long)."""
    *folders, name = nfc(path).split("/")
    if folders[:1] == [AREA]:
        del folders[0]  # A folder that memory_export wrote.
    stem = PurePosixPath(name).stem
    place = "/".join([AREA, *map(_fit, folders), f"{_fit(stem)}.md"])
    return place if len(place.encode()) <= PATH_BYTES and safe_path_reason(place) is None else None


def rolled(place: str, number: int) -> str:
    """The same name in the ``number``-th folder of its kind: a full one gets successors (D-26)."""
    if number == 1:
        return place
    folder, _, name = place.rpartition("/")
    return f"{AREA}/more-{number}/{name}" if folder == AREA else f"{folder}-{number}/{name}"


def _fit(segment: str) -> str:
    if segment.isalnum() and segment.isascii() and len(segment) < SEGMENT_BYTES and segment.lower() not in DEVICE_NAMES:
        return segment
    text = "".join(
        ("" if kind == "Cf" else "-") if (kind := unicodedata.category(character)) in _UNSEEN else character
        for character in segment
    )
    text = _SHORT_NAME.sub("-", _NOT_EVERYWHERE.sub("-", text))
    while len(text.encode()) > SEGMENT_BYTES:
        text = text[:-1]
    text = text.strip().lstrip(".").strip().rstrip(". ")
    if text.split(".")[0].rstrip().casefold() in DEVICE_NAMES:
        text = f"_{text}"
    return nfc(text) or UNTITLED
