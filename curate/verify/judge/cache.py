"""Caches the replies of judges on disk: SQLite, keyed by the hash of everything that determines a reply."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from pathlib import Path

from curate.errors import UserError


class JudgeCache:
    """Replies by content key. Safe for several threads and processes. Without a path the cache is in memory."""

    def __init__(self, path: Path | None) -> None:
        """Open or create the file; raises `UserError` if it is no such database or is not writable."""
        self._lock = threading.Lock()
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = _opened(path)
        except (sqlite3.Error, OSError) as error:
            raise UserError(f"{path}: cannot keep replies here ({error}); give another path for the cache") from None

    def get(self, key: str) -> str | None:
        """The reply stored under a key, or None."""
        with self._lock:
            row = self._database.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else None

    def put(self, key: str, reply: str) -> None:
        """Store a reply, unless the key already has one."""
        with self._lock:
            self._database.execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (key, reply))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()


def content_key(parts: object) -> str:
    """Hex SHA-256 of a JSON value."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _opened(path: Path | None) -> sqlite3.Connection:
    """The database with its table; a file that is no database is closed again."""
    database = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
    try:
        database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)")
    except sqlite3.Error:
        database.close()
        raise
    return database
