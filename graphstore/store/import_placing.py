"""Which imported calls are new, and where a call that has grown since the last import goes (rule I5).

A call's id comes from the source's own id. Found with the same content it is known. Found with other content it was
either changed in place, or it was still growing when it was first exported: a call that nothing stands on yet gets its
new content as a sibling (the first import's stays, as everything does), and what follows hangs under that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphstore.database import Row
from graphstore.fingerprint import derived_id

Hashes = Callable[[list[str]], dict[str, tuple[str, str | None]]]


@dataclass(frozen=True)
class Placed:
    """The rows to write; the ids of calls that go on as a sibling, old to new; how many were changed and kept."""

    fresh: list[Row]
    renamed: dict[str, str]
    changed: int


def place(rows: list[Row], hashes: Hashes) -> Placed:
    """Sort out the rows of one conversation, parents first; ``hashes`` looks ids up in the store."""
    known = hashes([row["node"]["id"] for row in rows])
    grown = {
        row["node"]["id"]: _grown_id(row["node"])
        for row in rows
        if known.get(row["node"]["id"], _content(row)) != _content(row)
    }
    if not grown:
        return Placed([row for row in rows if row["node"]["id"] not in known], {}, 0)
    known |= hashes(list(grown.values()))
    stood_on = {row["parent_id"] for row in rows if row["node"]["id"] in known}
    renamed = {old: new for old, new in grown.items() if new in known or old not in stood_on}
    moved = [_renamed(row, renamed) for row in rows]
    fresh = [row for row in moved if row["node"]["id"] not in known]
    return Placed(fresh, renamed, len(grown) - len(renamed))


def _content(row: Row) -> tuple[str, str | None]:
    return row["node"]["sent_hash"], row["node"]["result_hash"]


def _grown_id(node: Row) -> str:
    return derived_id("grown", node["id"], node["sent_hash"], node["result_hash"])


def _renamed(row: Row, renamed: dict[str, str]) -> Row:
    node, parent_id = row["node"], row["parent_id"]
    names = {"id": renamed.get(node["id"], node["id"]), "turn_id": renamed.get(node["turn_id"], node["turn_id"])}
    return {**row, "node": node | names, "parent_id": renamed.get(parent_id, parent_id)}
