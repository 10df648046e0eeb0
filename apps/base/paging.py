"""Pages by cursor: a cursor is opaque, bounded and names where the last page ended."""

import base64
import json
from typing import Any

from django.utils.translation import gettext as _

from apps.base.errors import Invalid

PAGE_LIMIT = 200


def cursor_of(*position: Any) -> str:
    """Make a cursor from the sort key of a page's last row."""
    raw = json.dumps(position, separators=(",", ":"), default=str).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def position_of(cursor: str, *types: type) -> tuple[Any, ...]:
    """Read a cursor back. Raises ``Invalid`` unless it holds values of these types."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        values = tuple(json.loads(raw))
        json.dumps(values, ensure_ascii=False).encode()  # Halves of a character: no column holds them.
    except (ValueError, TypeError, RecursionError):
        values = ()
    if len(values) != len(types) or not all(_is_sound(v, t) for v, t in zip(values, types, strict=True)):
        raise Invalid(fields={"cursor": _("This is no cursor of this list.")})
    return values


def _is_sound(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (isinstance(value, int) and abs(value) >= 2**63)
