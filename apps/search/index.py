# ruff: noqa: S608 (The names of the two tables and their columns are constants of this module.)
"""Writing the text index: documents and their words, inside the transaction that changed the document.

The ledger calls ``index_write`` and ``index_remove`` itself; there are no triggers, since Django's remake of a table
drops them. ``rebuild`` fills a new table in batches while writes go to both (L-25), then renames.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from django.db import connection
from django.db.backends.utils import CursorWrapper

from apps.base import clock
from apps.base.text import fold
from apps.base.transactions import short_transaction
from apps.search.models import Document, EmbeddingTrouble, Passage, Rebuild, RemovedInRebuild
from apps.search.shape import shape_of
from apps.search.tokens import FTS_TOKENIZER, TOKENISER_VERSION, segment

TABLE = "search_text"
NEXT_TABLE = "search_text_next"
COLUMNS = "title, tags, summary, names, body"
# How much a word counts in each column: an identifier as it stands counts above its parts in the body.
RANK = "bm25(8.0, 5.0, 4.0, 2.0, 1.0)"

_UPSERT = """
    INSERT INTO search_document
        (stable_id, resource, scope_key, revision, tokeniser_version, kind, note_type, status, tags, title_key,
         created_at, updated_at, thread, length, asks)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (stable_id) DO UPDATE SET
        resource = excluded.resource, scope_key = excluded.scope_key, revision = excluded.revision,
        tokeniser_version = excluded.tokeniser_version, kind = excluded.kind, note_type = excluded.note_type,
        status = excluded.status, tags = excluded.tags, title_key = excluded.title_key,
        created_at = excluded.created_at, updated_at = excluded.updated_at, thread = excluded.thread,
        length = excluded.length, asks = excluded.asks
    RETURNING id, EXISTS (SELECT 1 FROM search_rebuild)
"""
_WRITE = f"INSERT OR REPLACE INTO {{table}} (rowid, {COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s)"
_WRITE_TEXT = _WRITE.format(table=TABLE)
_WRITE_NEXT = _WRITE.format(table=NEXT_TABLE)

# What was embedded of a document goes with it; a new revision needs no word here, since ``embedded`` stays behind by itself.
_DERIVED = ("search_passage", "search_embeddingtrouble")

_COPY = f"INSERT INTO {NEXT_TABLE} (rowid, {COLUMNS}) SELECT rowid, {COLUMNS} FROM {TABLE} WHERE rowid = %s"


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One document as the index should hold it. ``body`` is the text without frontmatter, all of it."""

    stable_id: str
    resource: str
    scope_key: str
    revision: int
    title: str
    body: str
    created_at: datetime
    updated_at: datetime
    status: str
    tags: Sequence[str] = ()
    summary: str = ""
    kind: str = ""
    note_type: str = ""
    thread: str = ""


@dataclass(frozen=True, slots=True)
class RebuildReport:
    written: int  # documents whose words were cut anew
    kept: int  # documents that a save or an earlier batch had already put into the new table
    dropped: int  # documents of the old index that no entry stood for


# --- in the ledger's transaction ----------------------------------------------------------------------------


def index_write(entry: IndexEntry) -> int:
    """Put a document into the index or replace it there; gives its ``Document`` id."""
    with connection.cursor() as cursor:
        return _write(cursor, entry)


def index_write_many(entries: Iterable[IndexEntry]) -> int:
    """The same for many; gives their number. The caller's transaction holds them all, so keep it short."""
    with connection.cursor() as cursor:
        return len(_write_all(cursor, entries))


def index_move(stable_id: str, *, scope_key: str, revision: int, updated_at: datetime) -> None:
    """A document now belongs to another scope; its words stay."""
    Document.objects.filter(stable_id=stable_id).update(scope_key=scope_key, revision=revision, updated_at=updated_at)


def index_remove(stable_ids: Iterable[str]) -> int:
    """Take documents out of the index; gives how many were there. Unknown ids are no failure: gone is gone."""
    ids = list(dict.fromkeys(stable_ids))
    running = rebuild_is_running()
    removed = 0
    with connection.cursor() as cursor:
        for some in _batches(ids, 500):
            rows = dict(Document.objects.filter(stable_id__in=some).values_list("id", "stable_id"))
            keys = [(key,) for key in rows]
            cursor.executemany(f"DELETE FROM {TABLE} WHERE rowid = %s", keys)
            for derived in _DERIVED:
                cursor.executemany(f"DELETE FROM {derived} WHERE document_id = %s", keys)
            if running:
                cursor.executemany(f"DELETE FROM {NEXT_TABLE} WHERE rowid = %s", keys)
                RemovedInRebuild.objects.bulk_create(map(RemovedInRebuild, some), ignore_conflicts=True)
            Document.objects.filter(id__in=rows).delete()
            removed += len(rows)
    return removed


def empty() -> None:
    """Take everything out. Django's ``flush`` leaves FTS5 rows, so the fixtures of transactional tests call this."""
    with short_transaction(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {TABLE}")
        cursor.execute(f"DROP TABLE IF EXISTS {NEXT_TABLE}")
        for model in (Rebuild, RemovedInRebuild, Document, Passage, EmbeddingTrouble):
            model.objects.all().delete()


def tidy(pages: int = 500) -> bool:
    """Merge some of the pieces that single saves left; whether there was anything to merge.

    Each save adds a piece, and a search looks its words up in every one of them. FTS5 merges by itself while saving, but
    never all; a quiet hour is the time to call this until it says no.
    """
    with short_transaction(), connection.cursor() as cursor:
        before = _changes(cursor)
        # The minus sign makes FTS5 merge pieces of different sizes too, down to a single one.
        cursor.execute(f"INSERT INTO {TABLE}({TABLE}, rank) VALUES('merge', %s)", [-pages])
        return _changes(cursor) - before > 1


def _changes(cursor: CursorWrapper) -> int:
    cursor.execute("SELECT total_changes()")
    return int(cursor.fetchone()[0])


def title_key(title: str) -> str:
    """What must be equal for a query to be this title: its words as the index holds them."""
    return segment(title).words[:200]


def tag_line(tag: str) -> str:
    """A tag as ``Document.tags`` holds it, delimiters included."""
    return f"\n{fold(tag.strip())}\n"


def stored_time(moment: datetime) -> str:
    """A moment as Django stores it in SQLite, so that texts compare like times."""
    return str(moment.astimezone(UTC).replace(tzinfo=None))


def _write(cursor: CursorWrapper, entry: IndexEntry) -> int:
    return _write_all(cursor, [entry])[0]


def _write_all(cursor: CursorWrapper, entries: Iterable[IndexEntry]) -> list[int]:
    """First every document, then all words: FTS5 gathers them until the commit, but another table's upsert has it write
    out what it has so far. By turns each document became a piece of the index of its own (0.1 ms more a document)."""
    texts, rebuilding = [], False
    for entry in entries:
        text, rebuilding = _write_document(cursor, entry)
        texts.append(text)
    cursor.executemany(_WRITE_TEXT, texts)
    if rebuilding:
        cursor.executemany(_WRITE_NEXT, texts)
    return [text[0] for text in texts]


def _write_document(cursor: CursorWrapper, entry: IndexEntry) -> tuple[tuple[Any, ...], bool]:
    """The row that filters look at. Answers the row of words, with its key, and whether a rebuild is running."""
    title, summary, body = segment(entry.title), segment(entry.summary), segment(entry.body)
    tags = segment(" ".join(entry.tags))
    facts = (
        entry.stable_id, entry.resource, entry.scope_key, entry.revision, TOKENISER_VERSION, entry.kind,
        entry.note_type, entry.status, "".join(map(tag_line, entry.tags)), title.words[:200],
        stored_time(entry.created_at), stored_time(entry.updated_at), entry.thread, *shape_of(entry.body),
    )  # fmt: skip
    cursor.execute(_UPSERT, facts)
    key, rebuilding = cursor.fetchone()
    names = " ".join(filter(None, (title.names, tags.names, summary.names, body.names)))
    return (int(key), title.words, tags.words, summary.words, names, body.words), bool(rebuilding)


# --- rebuilding ---------------------------------------------------------------------------------------------


def rebuild_is_running() -> bool:
    """Whether a new table is being filled (or its filling was interrupted and can be resumed)."""
    return Rebuild.objects.exists()


def rebuild(entries: Iterable[IndexEntry], *, batch: int = 200) -> RebuildReport:
    """Cut all words anew into a new table and put it in place of the old one; search and saves go on meanwhile.

    Killed and called again it goes on where it was: what the new table already holds is not cut twice. ``entries`` is
    read while the rebuild runs and must name every document; one that is missing leaves the index. Only one may run at
    a time, which is the caller's lease to hold.
    """
    _begin()
    written = kept = 0
    for some in _batches(entries, batch):
        with short_transaction():
            new = _fill(some)
        written += new
        kept += len(some) - new
    return RebuildReport(written, kept, _swap())


def rebuild_abandon() -> None:
    """Give up an interrupted rebuild; the index stays as it is."""
    with short_transaction(), connection.cursor() as cursor:
        _end(cursor)
        cursor.execute(f"DROP TABLE IF EXISTS {NEXT_TABLE}")


def _begin() -> None:
    with short_transaction(), connection.cursor() as cursor:
        if Rebuild.objects.filter(tokeniser_version=TOKENISER_VERSION).exists():
            return
        _end(cursor)
        cursor.execute(f"DROP TABLE IF EXISTS {NEXT_TABLE}")
        cursor.execute(f'CREATE VIRTUAL TABLE {NEXT_TABLE} USING fts5({COLUMNS}, tokenize="{FTS_TOKENIZER}")')
        cursor.execute(f"INSERT INTO {NEXT_TABLE}({NEXT_TABLE}, rank) VALUES('rank', '{RANK}')")
        Rebuild.objects.create(id=1, tokeniser_version=TOKENISER_VERSION, started_at=clock.now())


def _fill(entries: Sequence[IndexEntry]) -> int:
    """Write what the new table lacks. What it holds was put there by a save or an earlier batch and is no older."""
    ids = [entry.stable_id for entry in entries]
    rows = Document.objects.filter(stable_id__in=ids).values_list("stable_id", "id", "revision")
    known = {stable_id: (key, revision) for stable_id, key, revision in rows}
    removed = set(RemovedInRebuild.objects.filter(stable_id__in=ids).values_list("stable_id", flat=True))
    written = 0
    with connection.cursor() as cursor:
        for entry in entries:
            key, revision = known.get(entry.stable_id, (None, -1))
            # Removed after it was read; but written anew after that, it has a row again and is in the new table.
            if key is None and entry.stable_id in removed:
                continue
            if key is not None and _has_row(cursor, key):
                continue
            if entry.revision >= revision:
                _write(cursor, entry)
            else:
                # Read before the save of a newer revision that came before this rebuild: the old table has its words.
                cursor.execute(_COPY, [key])
            written += 1
    return written


def _has_row(cursor: CursorWrapper, key: int) -> bool:
    cursor.execute(f"SELECT 1 FROM {NEXT_TABLE} WHERE rowid = %s", [key])
    return cursor.fetchone() is not None


def _swap() -> int:
    with short_transaction(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM search_document WHERE id NOT IN (SELECT rowid FROM {NEXT_TABLE})")
        dropped = cursor.rowcount
        for derived in _DERIVED if dropped else ():
            cursor.execute(f"DELETE FROM {derived} WHERE document_id NOT IN (SELECT id FROM search_document)")
        cursor.execute(f"DROP TABLE {TABLE}")
        cursor.execute(f"ALTER TABLE {NEXT_TABLE} RENAME TO {TABLE}")
        _end(cursor)
    return int(dropped)


def _end(cursor: CursorWrapper) -> None:
    cursor.execute("DELETE FROM search_rebuild")
    cursor.execute("DELETE FROM search_removedinrebuild")


def _batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some
