"""A memory for its pages, a deleted one too: what is deleted is put together from its last revision."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.base.errors import NotFound
from apps.console.forms.memories import KINDS, NOTE_TYPES
from apps.memories.selectors import memory_get, memory_history, memory_revision_get
from apps.operations.caller import Caller

NAMES = {
    "title": _("Title"),
    "kind": _("Kind"),
    "note_type": _("Whom it concerns"),
    "summary": _("Summary"),
    "tags": _("Tags"),
}
WORDS: dict[str, Mapping[str, Any]] = {"kind": dict(KINDS), "note_type": dict(NOTE_TYPES)}


@dataclass(frozen=True)
class Known:
    """What the pages of a memory need of it, whether it lives or not."""

    memory_id: str
    resource: str
    title: str
    kind: str
    note_type: str
    summary: str
    tags: list[str]
    status: str
    scope: str
    path: str
    revision: int
    updated_at: datetime
    body: str
    created_at: datetime | None = None
    unsettled: bool = False
    warnings: list[str] = field(default_factory=list)


SHARED_FIELDS = set(Known.__dataclass_fields__)


def known_memory(caller: Caller, memory_id: str) -> Known:
    """Raises ``NotFound`` where the caller sees no such memory, deleted or not."""
    try:
        read = memory_get.perform(caller, {"memory_id": memory_id})
    except NotFound:
        return _deleted(caller, memory_id)
    return Known(**{name: value for name, value in dict(read).items() if name in SHARED_FIELDS})


def _deleted(caller: Caller, memory_id: str) -> Known:
    history = memory_history.perform(caller, {"memory_id": memory_id, "limit": 1})
    last = memory_revision_get.perform(caller, {"memory_id": history.memory_id, "revision": history.current})
    told = {name: value for name, value in dict(last).items() if name in SHARED_FIELDS}
    return Known(**{**told, "updated_at": last.at, "warnings": []})


def changed_fields(old: Any, new: Any) -> list[dict[str, Any]]:
    """What a memory says of itself, where two versions of it differ."""
    before, after = _said(old), _said(new)
    return [
        {"name": name, "before": before[key], "after": after[key]}
        for key, name in NAMES.items()
        if before[key] != after[key]
    ]


def _said(version: Any) -> dict[str, str]:
    told = version if isinstance(version, Mapping) else dict(version)
    return {key: _in_words(key, told[key]) for key in NAMES}


def _in_words(key: str, value: Any) -> str:
    if key == "tags":
        return ", ".join(value)
    return str(WORDS[key].get(value, value)) if key in WORDS and value else str(value)
