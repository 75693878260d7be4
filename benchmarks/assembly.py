"""Reading a path: our own context(), the bare query, and PostgreSQL's recursive query, on the same data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
import psycopg

from benchmarks import postgres, targets
from benchmarks.data import Line, line
from benchmarks.server import Neo4j, hold_nothing, load_line
from benchmarks.timing import Contender, Figure, interleave
from graphstore import queries
from graphstore.segments import Segment
from graphstore.store import GraphStore
from graphstore.store.assembly import readers_of

Tick = Callable[[str], object]

EVERYONE = readers_of(None, None)
PLAIN = "_plain"  # the table whose rows PostgreSQL keeps as they are, instead of compressing long ones


@dataclass(frozen=True)
class Size:
    """``depth`` calls of ``size`` bytes."""

    name: str
    depth: int
    size: int
    repetitions: int


SIZES = (
    Size("10 x 2 KB", 10, 2000, 400),
    Size("100 x 2 KB", 100, 2000, 400),
    Size("1,000 x 2 KB", 1_000, 2000, 200),
    Size("10,000 x 0.5 KB", 10_000, 500, 40),
    Size("10,000 x 2 KB", 10_000, 2000, 25),
)


def create_tables(connection: psycopg.Connection[Any]) -> None:
    """A table as a user would make it, and one that never compresses."""
    for table in ("node", f"node{PLAIN}"):
        postgres.create_table(connection, table)
    connection.execute(
        f"ALTER TABLE node{PLAIN} ALTER sent SET STORAGE MAIN, ALTER returned SET STORAGE MAIN,"
        " SET (toast_tuple_target = 8160)"
    )


def load(neo4j: Neo4j, store: GraphStore, connection: psycopg.Connection[Any], made: Line) -> None:
    """The same rows on both sides."""
    load_line(neo4j, store, made)
    for table in ("node", f"node{PLAIN}"):
        postgres.copy_rows(connection, table, ((c.id, c.parent_id, c.sent, c.returned) for c in made.calls))
        postgres.settle(connection, table)


def measure(
    neo4j: Neo4j, store: GraphStore, connection: psycopg.Connection[Any], size: Size, made: Line, tick: Tick
) -> list[Figure]:
    """All contenders at one depth."""
    plain = postgres.PathReader(connection, "node")
    uncompressed = postgres.PathReader(connection, f"node{PLAIN}")
    leaf_id = made.leaf.id
    reader = ContextReader(store, made)
    contenders = [
        Contender(targets.BARE, lambda: bare(neo4j, store, made)),
        Contender(targets.POSTGRES, lambda: plain.rows(leaf_id)),
        Contender(targets.BODY, lambda: reader.read().body, reader.hold_nothing),
        Contender(targets.ITEMS, lambda: reader.read().items, reader.hold_nothing),
        Contender(targets.POSTGRES_ITEMS, lambda: paired(plain.rows(leaf_id))),
        Contender(targets.NEXT, reader.read, reader.hold_parent),
        Contender(targets.NEXT_BODY, lambda: reader.read().body, reader.hold_parent),
        Contender(targets.NEXT_ITEMS, lambda: reader.read().items, reader.hold_parent),
        Contender(targets.POSTGRES_PLAIN, lambda: uncompressed.rows(leaf_id)),
        Contender(targets.FLOOR, lambda: floor(neo4j, store, leaf_id)),
    ]
    check(contenders, made)
    return interleave(
        size.name,
        contenders,
        repetitions=size.repetitions,
        warm_up=max(size.repetitions // 2, 2),
        tick=lambda: tick(size.name),
    )


def check(contenders: list[Contender], made: Line) -> None:
    """Everybody gives the path that was written, or the times mean nothing."""
    items = [item for call in made.calls for text in (call.sent, call.returned) for item in orjson.loads(text)]
    ask: dict[str, Callable[[], object]] = {}
    for contender in contenders:

        def answer(one: Contender = contender) -> Any:
            if one.prepare is not None:
                one.prepare()
            return one.run()

        ask[contender.name] = answer
    rows: Any = ask[targets.POSTGRES]()
    assert [(str(id), sent, returned) for id, sent, returned in rows] == [
        (c.id, c.sent, c.returned) for c in made.calls
    ]
    for name in (targets.ITEMS, targets.NEXT_ITEMS, targets.POSTGRES_ITEMS):
        assert ask[name]() == items, name
    for name in (targets.BODY, targets.NEXT_BODY):
        assert orjson.loads(ask[name]()) == items, name  # type: ignore[arg-type]


def bare(neo4j: Neo4j, store: GraphStore, made: Line) -> list[list[Any]]:
    """The text of the assembly query through the driver, its result consumed."""
    return neo4j.read(
        queries.ASSEMBLE.text,
        workspace=store.workspace,
        conversation_id=made.conversation_id,
        node_id=None,
        readers=list(EVERYONE),
    )


def floor(neo4j: Neo4j, store: GraphStore, leaf_id: str) -> list[list[Any]]:
    """The least a query can do: climb, and give one property of each node."""
    return neo4j.read(
        "MATCH (leaf:Node {workspace: $workspace, id: $leaf_id})-[:PARENT*0..]->(n) RETURN collect(n.sent)",
        workspace=store.workspace,
        leaf_id=leaf_id,
    )


def paired(rows: list[tuple[Any, str, str]]) -> list[dict[str, Any]]:
    """What context().items gives, from PostgreSQL's rows: joined, parsed at once, calls and results paired."""
    parts = [text[1:-1] for _, sent, returned in rows for text in (sent, returned) if len(text) > 2]
    items: list[dict[str, Any]] = orjson.loads("[" + ",".join(parts) + "]")
    waiting: set[str] = set()
    for item in items:
        kind = item["type"]
        if kind == "tool_call":
            waiting.add(item["call_id"])
        elif kind == "tool_result":
            waiting.discard(item["call_id"])
    return [item for item in items if item.get("call_id") not in waiting] if waiting else items


class ContextReader:
    """A conversation's context, read by a process that holds nothing, or the context of the last node's parent."""

    def __init__(self, store: GraphStore, made: Line) -> None:
        self._store = store
        self._conversation_id = made.conversation_id
        self._parent: Segment | None = None
        if made.leaf.parent_id is not None:
            self._parent = store.context(node_id=made.leaf.parent_id).segment

    def hold_nothing(self) -> None:
        hold_nothing(self._store)

    def hold_parent(self) -> None:
        hold_nothing(self._store)
        if self._parent is not None:
            self._store.session.held.put(EVERYONE, self._conversation_id, self._parent)

    def read(self) -> Any:
        return self._store.context(self._conversation_id)


def shrunk(size: Size, by: int) -> Size:
    """A smaller one under the same name, to try the benchmark out."""
    return Size(size.name, max(size.depth // by, 2), size.size, max(size.repetitions // by, 2))


def lines(sizes: tuple[Size, ...]) -> list[Line]:
    """One conversation for each size."""
    return [line(size.depth, size.size, seed) for seed, size in enumerate(sizes)]
