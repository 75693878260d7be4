"""LangGraph's PostgreSQL saver, with full snapshots and with delta channels."""

from __future__ import annotations

from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row

from benchmarks.peers.langgraph_graph import Delta, LangGraph
from benchmarks.peers.peer import Servers
from benchmarks.peers.postgres_schema import Schema


class LangGraphPostgres(LangGraph):
    name = "LangGraph, PostgreSQL"
    packages = ("langgraph", "langgraph-checkpoint-postgres", "psycopg")

    def __init__(self, servers: Servers, schema: Schema | None = None) -> None:
        super().__init__(servers)
        self._schema = schema or Schema(servers.postgres)
        self._shared = schema is not None

    def open(self) -> None:
        self._connection = self._schema.connect()
        # as the saver's own from_conn_string makes them
        self._connection.prepare_threshold = 0
        self._connection.row_factory = dict_row
        self.saver = PostgresSaver(self._connection)
        if not self._shared:
            self.saver.setup()
        self.compile()

    def close(self) -> None:
        self._connection.close()
        if not self._shared:
            self._schema.drop()

    def size(self) -> int:
        return self._schema.size()

    def written(self) -> int:
        return self._schema.written()

    def writer(self) -> LangGraphPostgres:
        other = type(self)(self.servers, self._schema)
        other.open()
        return other


class LangGraphPostgresDelta(LangGraphPostgres):
    name = "LangGraph, PostgreSQL, delta"
    state = Delta
