"""Which things an archive has so far, and which it points to: on disk, since there may be many millions."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType


class Keys:
    """The keys of an archive under way; use it as a context manager."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="graphstore-")
        self._base = sqlite3.connect(Path(self._folder.name) / "keys", isolation_level=None, check_same_thread=False)
        self._base.executescript(
            """
            PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
            CREATE TABLE there (kind TEXT, key TEXT, moves INTEGER, PRIMARY KEY (kind, key)) WITHOUT ROWID;
            CREATE TABLE needed (kind TEXT, key TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID;
            BEGIN;
            """
        )

    def __enter__(self) -> Keys:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._base.close()
        self._folder.cleanup()

    def add(self, kind: str, key: str, moves: int | None = None) -> None:
        """Note that a thing is in the archive; of a conversation, how many moves it had then."""
        self._base.execute("INSERT INTO there VALUES (?, ?, ?)", (kind, key, moves))

    def has(self, kind: str, key: str) -> bool:
        """Whether a thing is in the archive."""
        return self._base.execute("SELECT 1 FROM there WHERE kind = ? AND key = ?", (kind, key)).fetchone() is not None

    def moves(self, conversation_id: str) -> int:
        """How many moves a conversation had when it was read; 0 for one that is not in the archive."""
        found = self._base.execute(
            "SELECT moves FROM there WHERE kind = 'Conversation' AND key = ?", (conversation_id,)
        ).fetchone()
        return 0 if found is None else int(found[0])

    def need(self, kinds_and_keys: Iterable[tuple[str, str]]) -> None:
        """Note what the archive points to."""
        self._base.executemany("INSERT OR IGNORE INTO needed VALUES (?, ?)", kinds_and_keys)

    def missing(self, limit: int) -> dict[str, list[str]]:
        """Some of what the archive points to and doesn't have, by kind."""
        found: dict[str, list[str]] = {}
        for kind, key in self._base.execute(
            "SELECT kind, key FROM needed EXCEPT SELECT kind, key FROM there LIMIT ?", (limit,)
        ):
            found.setdefault(kind, []).append(key)
        return found
