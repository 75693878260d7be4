"""What has been chosen and rejected so far, for the same prompt: on disk, so that it may be of any size."""

from __future__ import annotations

import sqlite3
from types import TracebackType

_TABLES = """
CREATE TABLE verdicts (text TEXT PRIMARY KEY, chosen INT NOT NULL, rejected INT NOT NULL) WITHOUT ROWID;
CREATE TABLE written (key TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_NOTE = """
INSERT INTO verdicts VALUES (:text, :chosen, :rejected)
ON CONFLICT (text) DO UPDATE SET chosen = chosen | :chosen, rejected = rejected | :rejected
"""


class Ledger:
    """Verdicts by key (see ``sampling.text_key``); a context manager over a private temporary database."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)  # no name: a temporary file that nobody else sees
        self._database.executescript(_TABLES)

    def __enter__(self) -> Ledger:
        self._database.execute("BEGIN")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._database.close()

    def note(self, prompt: str, chosen: str, rejected: str) -> None:
        """Remember a pair: its chosen text was chosen after this prompt, its rejected text rejected."""
        self._database.execute(_NOTE, {"text": prompt + chosen, "chosen": 1, "rejected": 0})
        self._database.execute(_NOTE, {"text": prompt + rejected, "chosen": 0, "rejected": 1})

    def contradicts(self, prompt: str, text: str) -> bool:
        """Whether this text was both chosen and rejected after this prompt."""
        found = self._database.execute("SELECT chosen & rejected FROM verdicts WHERE text = ?", (prompt + text,))
        row = found.fetchone()
        return row is not None and bool(row[0])

    def is_new(self, *key: str) -> bool:
        """Whether this very key (of a pair: prompt, chosen, rejected) is asked about for the first time."""
        cursor = self._database.execute("INSERT OR IGNORE INTO written VALUES (?)", ("".join(key),))
        return cursor.rowcount == 1
