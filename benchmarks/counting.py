"""A database that counts the reading statements sent through it."""

from __future__ import annotations

from typing import Any

from graphstore.database import Database, Row
from graphstore.queries import Query


class CountingDatabase(Database):
    """As ``Database``; ``reads`` is the number of reading statements so far."""

    reads = 0

    def rows(self, query: Query, **parameters: Any) -> list[Row]:
        """Run a query and return all its rows."""
        self.reads += query.access == "read"
        return super().rows(query, **parameters)
