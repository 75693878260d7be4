"""What every verb needs: the database, the workspace, what is held, and which settings are already stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphstore.database import Database, Row
from graphstore.queries import Query
from graphstore.store.held import HeldContexts

DEFAULT_HELD_BYTES = 128 * 1024 * 1024


@dataclass
class Session:
    """One workspace of one database. ``stored_settings`` are the hashes this process knows to be stored."""

    database: Database
    workspace: str
    actor: str | None = None
    held: HeldContexts = field(default_factory=lambda: HeldContexts(DEFAULT_HELD_BYTES))
    stored_settings: set[str] = field(default_factory=set)

    def rows(self, query: Query, **parameters: Any) -> list[Row]:
        """Run a query in this workspace."""
        return self.database.rows(query, workspace=self.workspace, **parameters)

    def row(self, query: Query, **parameters: Any) -> Row | None:
        """Run a query of at most one row in this workspace."""
        return self.database.row(query, workspace=self.workspace, **parameters)
