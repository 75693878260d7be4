"""Settings (system prompts, tools, …) that no node has any more: noted when found, removed long after (rule S7)."""

from __future__ import annotations

from dataclasses import dataclass

from graphstore import queries
from graphstore.store.session import Session

SWEEP_AFTER = 24 * 3600
"""Seconds. Much longer than a process takes a setting that it once stored to be there (``KnownSettings``)."""

PAGE = 10_000


@dataclass(frozen=True)
class Swept:
    """How many settings are unused but stay for now, and how many were removed."""

    unused: int
    removed: int


def unused_settings(session: Session) -> set[str]:
    """The hashes of settings that no node has; one pass over the workspace's nodes."""
    return _looked(session)[0]


def sweep(session: Session, after: int = SWEEP_AFTER) -> Swept:
    """Note which settings are unused, and remove those found unused at least ``after`` seconds ago.

    Safe beside writers: who stores a setting takes the note away, and a process that doesn't store it again has done
    so within the last hour.
    """
    unused, marked = _looked(session)
    session.rows(queries.MARK_SETTINGS, unused=sorted(unused - marked), used=sorted(marked - unused))
    row = session.row(queries.SWEEP_SETTINGS, hashes=sorted(unused), seconds=after) or {"removed": 0}
    return Swept(len(unused) - row["removed"], row["removed"])


def _looked(session: Session) -> tuple[set[str], set[str]]:
    # Stored first, used after: what is stored in between is in neither.
    stored = session.rows(queries.STORED_SETTINGS)
    used: set[str] = set()
    after: str | None = ""
    while after is not None:
        row = session.row(queries.SETTINGS_IN_USE, after=after, limit=PAGE) or {"last": None, "hashes": []}
        used.update(row["hashes"])
        after = row["last"]
    return {row["sha256"] for row in stored} - used, {row["sha256"] for row in stored if row["marked"]}
