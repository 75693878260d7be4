"""A path with its branch markers on PostgreSQL: one recursive query that brings the path and the siblings of its turns.

Two forms of it, which give the same; numbering is the client's in both: a turn that stands alone needs none, and
window functions can't count distinct questions. A first row of the path's own hash and time saves reading each node
again as its own sibling.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import psycopg

TABLE = "tree_node"
WINDOW = 50

CREATE = f"""
CREATE TABLE {TABLE} (
  id uuid PRIMARY KEY, conversation_id uuid NOT NULL, parent_id uuid, kind text NOT NULL DEFAULT 'turn',
  round int NOT NULL DEFAULT 0, sent text NOT NULL, returned text NOT NULL, sent_hash text NOT NULL,
  deleted_at timestamptz, created_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE INDEX {TABLE}_parent ON {TABLE} (parent_id);
CREATE INDEX {TABLE}_root ON {TABLE} (conversation_id) WHERE parent_id IS NULL;
"""

_SHOWN = "s.kind = 'turn' AND s.round = 0 AND s.deleted_at IS NULL AND s.conversation_id = %(conversation_id)s"

_UP = f"""
WITH RECURSIVE up AS (
  SELECT id, parent_id, sent, returned, sent_hash, created_at FROM {TABLE} WHERE id = %(leaf_id)s
  UNION ALL
  SELECT n.id, n.parent_id, n.sent, n.returned, n.sent_hash, n.created_at FROM up JOIN {TABLE} n ON n.id = up.parent_id)
"""

ROWS = f"""{_UP}
SELECT id, parent_id, sent_hash, created_at, sent, returned FROM up
UNION ALL
SELECT s.id, s.parent_id, s.sent_hash, s.created_at, NULL, NULL
FROM up JOIN {TABLE} s ON s.parent_id = up.parent_id WHERE s.id <> up.id AND {_SHOWN}
UNION ALL
SELECT s.id, NULL, s.sent_hash, s.created_at, NULL, NULL
FROM {TABLE} s WHERE s.parent_id IS NULL AND {_SHOWN} AND s.id NOT IN (SELECT id FROM up WHERE parent_id IS NULL)
"""
"""The path's rows, then those of the siblings beside it."""

ARRAYS = f"""{_UP}
SELECT up.id, up.sent, up.returned, b.ids, b.hashes
FROM up LEFT JOIN LATERAL (
  SELECT array_agg(s.id ORDER BY s.created_at, s.id) AS ids,
         array_agg(s.sent_hash ORDER BY s.created_at, s.id) AS hashes
  FROM {TABLE} s WHERE s.parent_id = up.parent_id AND {_SHOWN} HAVING count(*) > 1) b ON up.parent_id IS NOT NULL
UNION ALL
SELECT NULL, NULL, NULL, array_agg(s.id ORDER BY s.created_at, s.id), array_agg(s.sent_hash ORDER BY s.created_at, s.id)
FROM {TABLE} s WHERE s.parent_id IS NULL AND {_SHOWN}
"""
"""The path's rows, each with its siblings in order where there are any; the first turn's in a row of their own."""


class Standing(NamedTuple):
    """What a marker says."""

    node_id: Any
    position: int
    count: int
    siblings: Sequence[Any]
    left: Any
    right: Any
    version: int
    versions: int
    answer: int
    answers: int


class TreeReader:
    """The path of a leaf, root first, as rows of id, sent and returned; and a standing for each."""

    def __init__(self, connection: psycopg.Connection[Any], conversation_id: str) -> None:
        self._cursor = connection.cursor(binary=True)
        self._conversation_id = conversation_id

    def _rows(self, query: str, leaf_id: str) -> list[tuple[Any, ...]]:
        named = {"leaf_id": leaf_id, "conversation_id": self._conversation_id}
        return self._cursor.execute(query, named, prepare=True).fetchall()

    def rows(self, leaf_id: str) -> tuple[list[tuple[Any, str, str]], list[Standing]]:
        """By ``ROWS``."""
        path: list[tuple[Any, ...]] = []
        beside: dict[Any, list[tuple[Any, ...]]] = {}
        for row in self._rows(ROWS, leaf_id):
            if row[4] is not None:
                path.append(row)
            else:
                beside.setdefault(row[1], []).append(row)
        path.reverse()
        standings = []
        for row in path:
            others = beside.get(row[1])
            if others is None:
                standings.append(_alone(row[0]))
            else:
                ordered = sorted([*others, row], key=lambda one: (one[3], one[0]))
                standings.append(standing(row[0], [one[0] for one in ordered], [one[2] for one in ordered]))
        return [(row[0], row[4], row[5]) for row in path], standings

    def arrays(self, leaf_id: str) -> tuple[list[tuple[Any, str, str]], list[Standing]]:
        """By ``ARRAYS``."""
        *path, roots = self._rows(ARRAYS, leaf_id)
        path.reverse()
        standings = [_alone(row[0]) if row[3] is None else standing(row[0], row[3], row[4]) for row in path]
        if len(roots[3]) > 1:
            standings[0] = standing(path[0][0], roots[3], roots[4])
        return [row[:3] for row in path], standings  # type: ignore[misc]


def _alone(node_id: Any) -> Standing:
    return Standing(node_id, 1, 1, (node_id,), None, None, 1, 1, 1, 1)


def standing(node_id: Any, ids: list[Any], asked: list[str]) -> Standing:
    """Where a node stands among its siblings, oldest first, of which ``asked`` are the hashes of the questions."""
    at = ids.index(node_id)
    same = [place for place, question in enumerate(asked) if question == asked[at]]
    start = min(max(at - WINDOW // 2, 0), max(len(ids) - WINDOW, 0))
    return Standing(
        node_id=node_id,
        position=at + 1,
        count=len(ids),
        siblings=ids[start : start + WINDOW],
        left=ids[at - 1] if at > 0 else None,
        right=ids[at + 1] if at + 1 < len(ids) else None,
        version=1 + len(set(asked[: same[0]])),
        versions=len(set(asked)),
        answer=same.index(at) + 1,
        answers=len(same),
    )


def fill(
    connection: psycopg.Connection[Any], conversation_id: str, rows: Iterable[tuple[str, str | None, str, str, str]]
) -> None:
    """Make the table of calls (id, parent, sent, returned, hash of sent), in order of their creation."""
    connection.execute(CREATE)
    with connection.cursor().copy(
        f"COPY {TABLE} (conversation_id, id, parent_id, sent, returned, sent_hash) FROM STDIN"
    ) as copy:
        for row in rows:
            copy.write_row((conversation_id, *row))
    connection.execute(f"VACUUM ANALYZE {TABLE}")
    connection.execute("CHECKPOINT")
