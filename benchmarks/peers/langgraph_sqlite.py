"""LangGraph's SQLite saver, with full snapshots and with delta channels."""

from __future__ import annotations

import sqlite3

from langgraph.checkpoint.sqlite import SqliteSaver

from benchmarks.peers.langgraph_graph import Delta, LangGraph
from benchmarks.peers.peer import Servers
from benchmarks.peers.sqlite_file import SqliteFile, written_by_this_process


class LangGraphSqlite(LangGraph):
    name = "LangGraph, SQLite"
    packages = ("langgraph", "langgraph-checkpoint-sqlite")

    def __init__(self, servers: Servers, file: SqliteFile | None = None) -> None:
        super().__init__(servers)
        self._file = file or SqliteFile()
        self._shared = file is not None

    def open(self) -> None:
        self._connection = sqlite3.connect(self._file.path, check_same_thread=False)
        self.saver = SqliteSaver(self._connection)
        self.compile()

    def close(self) -> None:
        self._connection.close()
        if not self._shared:
            self._file.close()

    def size(self) -> int:
        return self._file.size()

    def written(self) -> int:
        return written_by_this_process()

    def writer(self) -> LangGraphSqlite:
        other = type(self)(self.servers, self._file)
        other.open()
        return other


class LangGraphSqliteDelta(LangGraphSqlite):
    name = "LangGraph, SQLite, delta"
    state = Delta
