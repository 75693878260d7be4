"""What every verb needs: the database, the workspace, what is held, and which settings are already stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from graphstore import queries
from graphstore.database import Database, Row
from graphstore.errors import PayloadMissing
from graphstore.payloads import DEFAULT_LIMIT, NOTHING_APART, Payloads, hashes_in
from graphstore.queries import Query
from graphstore.store.held import HeldContexts

DEFAULT_HELD_BYTES = 128 * 1024 * 1024

Read = TypeVar("Read")


class KnownSettings:
    """Hashes of settings that this process has seen stored lately.

    A sweep of settings waits much longer than they are kept here (``sweeping.SWEEP_AFTER``): what is known is there.
    """

    SECONDS = 3600.0

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def __contains__(self, digest: str) -> bool:
        return self._until.get(digest, 0.0) > time.monotonic()

    def update(self, digests: Iterable[str]) -> None:
        """Take note that these are stored now."""
        until = time.monotonic() + self.SECONDS
        for digest in digests:
            if digest not in self:
                self._until[digest] = until


@dataclass
class Session:
    """One workspace of one database.

    ``blob_bytes`` is the size above which strings are stored apart; ``stored_settings`` are the settings that this
    process knows to be stored.
    """

    database: Database
    workspace: str
    actor: str | None = None
    held: HeldContexts = field(default_factory=lambda: HeldContexts(DEFAULT_HELD_BYTES))
    blob_bytes: int = DEFAULT_LIMIT
    stored_settings: KnownSettings = field(default_factory=lambda: KnownSettings())

    def rows(self, query: Query, **parameters: Any) -> list[Row]:
        """Run a query in this workspace."""
        return self.database.rows(query, workspace=self.workspace, **parameters)

    def row(self, query: Query, **parameters: Any) -> Row | None:
        """Run a query of at most one row in this workspace."""
        return self.database.row(query, workspace=self.workspace, **parameters)

    def payloads(self, texts: Iterable[str | None]) -> Payloads:
        """What the references in stored texts stand for; no round trip when there are none."""
        hashes = hashes_in(texts)
        if not hashes:
            return NOTHING_APART
        return Payloads({row["sha256"]: row["data"] for row in self.rows(queries.BLOBS, hashes=hashes)})


def steady(read: Callable[[], Read]) -> Read:
    """What ``read`` gives; read anew when a blob went between two of its looks, as its node was deleted or erased."""
    try:
        return read()
    except PayloadMissing:
        return read()
