"""A schema of one's own in the run's PostgreSQL."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg

from benchmarks.postgres import Postgres


class Schema:
    """Made at once, dropped by ``drop``."""

    def __init__(self, server: Postgres) -> None:
        self._server = server
        self.name = f"peer_{uuid.uuid4().hex[:12]}"
        self._admin = server.connect()
        self._admin.execute(f"CREATE SCHEMA {self.name}")

    def connect(self, *, tuned: bool = False) -> psycopg.Connection[Any]:
        """A connection in autocommit mode that finds this schema's tables; ``tuned`` for recursive queries."""
        connection = self._server.connect()
        if not tuned:
            connection.execute("RESET ALL")
        connection.execute(f"SET search_path TO {self.name}")
        return connection

    def size(self) -> int:
        """Bytes of its tables with their indexes and long values, after a vacuum."""
        self._admin.execute("VACUUM ANALYZE")
        row = self._admin.execute(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'",
            (self.name,),
        ).fetchone()
        assert row is not None
        return int(row[0])

    def written(self) -> int:
        """Bytes of the server's write-ahead log so far."""
        row = self._admin.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
        assert row is not None
        return int(row[0])

    def drop(self) -> None:
        self._admin.execute(f"DROP SCHEMA {self.name} CASCADE")
        self._admin.close()
