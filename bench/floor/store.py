"""The plainest durable store that finds Chinese and English words: one table and one index of SQLite's FTS5.

Runs of Chinese are indexed as overlapping pairs of characters, so that a word of two characters is found.
"""

import re
import sqlite3
import time
import uuid
from pathlib import Path
from threading import Lock
from typing import Any

HAN = re.compile(r"[\u3400-\u9fff]+")
PIECE = re.compile(r"[\u3400-\u9fff]+|\w+", re.ASCII)
TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS notes (number INTEGER PRIMARY KEY, id TEXT UNIQUE, title TEXT, body TEXT, tags TEXT, made REAL);
CREATE VIRTUAL TABLE IF NOT EXISTS words
    USING fts5 (title, body, tags, content = '', tokenize = "unicode61 tokenchars '_'");
"""
FIND = """
SELECT notes.id, notes.title, substr(notes.body, 1, 160)
FROM (SELECT rowid, bm25(words, 4.0, 1.0, 2.0) AS score FROM words WHERE words MATCH ? ORDER BY score LIMIT ?) AS found
JOIN notes ON notes.number = found.rowid ORDER BY found.score
"""


def pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def indexed(text: str) -> str:
    """A text as the index holds it: Chinese cut into pairs, everything else as it is."""
    return HAN.sub(lambda run: f" {' '.join(pairs(run[0]))} ", text)


def expression(query: str, junction: str) -> str:
    """The query in FTS5's language: each chunk between blanks, such as a path or ``E-42``, is one phrase."""
    chunks = (PIECE.findall(chunk) for chunk in query.split())
    return junction.join(f'"{indexed(" ".join(pieces)).strip()}"' for pieces in chunks if pieces)


class Store:
    def __init__(self, file: Path) -> None:
        self._lock = Lock()
        self._database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._database.executescript(TABLES)

    def save(self, title: str, body: str, tags: list[str]) -> str:
        return self.save_many([(title, body, tags)])[0]

    def save_many(self, notes: list[tuple[str, str, list[str]]]) -> list[str]:
        """All in one transaction; answers their ids."""
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            ids = [self._insert(*note) for note in notes]
            self._database.execute("COMMIT")
        return ids

    def _insert(self, title: str, body: str, tags: list[str]) -> str:
        note_id, joined = uuid.uuid4().hex, ",".join(tags)
        row = self._database.execute(
            "INSERT INTO notes (id, title, body, tags, made) VALUES (?, ?, ?, ?, ?)",
            (note_id, title, body, joined, time.time()),
        )
        self._database.execute(
            "INSERT INTO words (rowid, title, body, tags) VALUES (?, ?, ?, ?)",
            (row.lastrowid, indexed(title), indexed(body), indexed(joined)),
        )
        return note_id

    def search(self, query: str, limit: int) -> list[dict[str, str]]:
        """Notes with all words, else notes with any; best first."""
        for junction in (" AND ", " OR "):
            if wanted := expression(query, junction):
                with self._lock:
                    rows = self._database.execute(FIND, (wanted, limit)).fetchall()
                if rows:
                    return [dict(zip(("id", "title", "excerpt"), row, strict=True)) for row in rows]
        return []

    def get(self, note_id: str) -> dict[str, Any] | None:
        with self._lock:
            row = self._database.execute("SELECT id, title, body, tags FROM notes WHERE id = ?", (note_id,)).fetchone()
        return dict(zip(("id", "title", "body", "tags"), row, strict=True)) if row else None

    def close(self) -> None:
        self._database.close()
