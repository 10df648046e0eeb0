"""Where a search goes on: an opaque text made of the query's hash, the offset and the head it was asked at (D-36)."""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from apps.search.errors import CursorInvalid

MAX_DEPTH = 200
_FORM = 1


class Reason(StrEnum):
    """Why a list of results is not all there is. The list is closed; each has one sentence in the manual."""

    DEPTH_LIMIT = "DEPTH_LIMIT"  # More than MAX_DEPTH results match: narrow the query.
    INDEX_REBUILDING = "INDEX_REBUILDING"  # The index is being made anew; some documents may be missing yet.
    OUTSIDE_CHANGES_PENDING = "OUTSIDE_CHANGES_PENDING"  # Files were changed outside and are not taken in yet.
    CURSOR_STALE = "CURSOR_STALE"  # Something changed since the first page: results may repeat or be skipped.
    QUERY_SHORTENED = "QUERY_SHORTENED"  # The query had more words than a search takes.
    SEMANTIC_STARTING = "SEMANTIC_STARTING"  # The model is being loaded: this answer came from words alone.
    SEMANTIC_UNAVAILABLE = "SEMANTIC_UNAVAILABLE"  # The embedder does not answer: this answer came from words alone.
    VECTORS_PENDING = "VECTORS_PENDING"  # Some newest texts are found by their words only, their vectors are to come.


class Cursor(NamedTuple):
    query_hash: str
    offset: int
    head: int

    def is_stale(self, head: int) -> bool:
        """Whether something changed since the search began, so that pages may overlap or leave gaps."""
        return self.head != head


def query_hash(query: str, filters: Mapping[str, Any]) -> str:
    """A short digest of a query and all that narrows it; equal searches have equal ones."""
    told = json.dumps([query, filters], sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.blake2b(told.encode(), digest_size=9).hexdigest()


def encode(cursor: Cursor) -> str:
    told = json.dumps([_FORM, *cursor], separators=(",", ":"))
    return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


def decode(text: str, query_hash: str) -> Cursor:
    """The cursor in ``text``, if it is one of ours and of this search; else ``CursorInvalid``."""
    try:
        form, digest, offset, head = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise CursorInvalid from None
    is_sound = form == _FORM and digest == query_hash and type(offset) is int and type(head) is int
    if not is_sound or not 0 <= offset <= MAX_DEPTH or head < 0:
        raise CursorInvalid
    return Cursor(digest, offset, head)
