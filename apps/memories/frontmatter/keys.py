"""The keys with a meaning, what each of them holds, and the order in which a new file carries them."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

Value = str | int | bool | Sequence[str]


class ValueType(Enum):
    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    LIST = "list"


KNOWN_KEYS: Mapping[str, ValueType] = {
    "stable_id": ValueType.TEXT,
    "title": ValueType.TEXT,
    "type": ValueType.TEXT,
    "permalink": ValueType.TEXT,
    "slug": ValueType.TEXT,
    "kind": ValueType.TEXT,
    "note_type": ValueType.TEXT,
    "summary": ValueType.TEXT,
    "tags": ValueType.LIST,
    "status": ValueType.TEXT,
    "important": ValueType.FLAG,
    "thread": ValueType.TEXT,
    "scope": ValueType.TEXT,
    "project_id": ValueType.TEXT,
    "workspace_type": ValueType.TEXT,
    "usage_profile_id": ValueType.TEXT,
    "preference_context": ValueType.TEXT,
    "document_type": ValueType.TEXT,
    "revision": ValueType.NUMBER,
    "source_memory_ids": ValueType.LIST,
    "source_checkpoint_ids": ValueType.LIST,
    "source_file_ids": ValueType.LIST,
    "source_git_commit": ValueType.TEXT,
    "model_connection": ValueType.TEXT,
    "model_name": ValueType.TEXT,
    "prompt_version": ValueType.TEXT,
    "curation_job_id": ValueType.TEXT,
    "created_at": ValueType.TEXT,
    "updated_at": ValueType.TEXT,
}
_PLACE = {key: place for place, key in enumerate(KNOWN_KEYS)}


def in_order(keys: Iterable[str]) -> list[str]:
    """Foreign keys come last, in the order in which they were given."""
    return sorted(keys, key=lambda key: _PLACE.get(key, len(_PLACE)))


def type_of(value: Value) -> ValueType:
    match value:
        case bool():
            return ValueType.FLAG
        case int():
            return ValueType.NUMBER
        case str():
            return ValueType.TEXT
        case _:
            return ValueType.LIST
