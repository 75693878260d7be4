"""A database file in a folder of its own, for the stores that keep their data in SQLite."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path


class SqliteFile:
    """The file; removed by ``close``."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-sqlite-")
        self.path = str(Path(self._folder.name) / "peer.db")

    def close(self) -> None:
        self._folder.cleanup()

    def size(self) -> int:
        """Bytes at rest, with everything moved from the write-ahead log into the file."""
        connection = sqlite3.connect(self.path, timeout=30)
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()
        return sum(path.stat().st_size for path in Path(self._folder.name).iterdir())


def written_by_this_process() -> int:
    """Bytes that this process has handed to ``write``; SQLite runs within it."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar:"))
