"""Branches: a whole path with its markers, the tail below a held node, and what branches that share a payload take.

Markers: 1,000 turns of 2 KB, every fourth with one to four siblings beside it (regenerated or edited), against
PostgreSQL's recursive query with the siblings of each turn; both give items and standings as values of the client.
Tail: the last 5 calls of 10,000 of 0.5 KB, by a client that holds the rest, against reading the whole path.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import psycopg

from benchmarks import disk, postgres_tree, targets
from benchmarks.data import SEED, Call, Line, line, message
from benchmarks.postgres import Postgres
from benchmarks.server import Neo4j, hold_nothing, load_beside, load_line
from benchmarks.timing import Contender, Figure, interleave
from graphstore.fingerprint import new_id, sha256
from graphstore.jsontext import dumps
from graphstore.store import GraphStore

DEPTH, SIZE, EVERY, MOST = 1_000, 2_000, 4, 4
MARKED = 150

TAIL_DEPTH, TAIL_SIZE, NEW = 10_000, 500, 5
TAILS = 40


def rounds(shrink: int) -> int:
    """How often ``measure`` ticks."""
    return sum(_repetitions(MARKED, shrink)) + sum(_repetitions(TAILS, shrink)) + disk.turns(shrink)


def measure(neo4j: Neo4j, postgres: Postgres, shrink: int, tick: Callable[[str], object]) -> list[Figure]:
    """All three; the disk first, as long as the store is empty."""
    with postgres.connect() as connection:
        figures = disk.measure(neo4j, connection, shrink, lambda: tick(targets.DISK))
        with neo4j.store(f"benchmark-{new_id()}") as store:
            figures += _markers(neo4j, store, connection, shrink, lambda: tick(targets.MARKERS))
            figures += _tails(neo4j, store, shrink, lambda: tick(targets.TAIL))
    return figures


def _markers(
    neo4j: Neo4j, store: GraphStore, connection: psycopg.Connection[Any], shrink: int, tick: Callable[[], object]
) -> list[Figure]:
    made = line(max(DEPTH // shrink, 8), SIZE)
    beside = siblings(made)
    load_line(neo4j, store, made)
    load_beside(neo4j, store, made.conversation_id, beside)
    postgres_tree.fill(
        connection,
        made.conversation_id,
        ((one.id, one.parent_id, one.sent, one.returned, sha256(one.sent)) for one in [*made.calls, *beside]),
    )
    reader = postgres_tree.TreeReader(connection, made.conversation_id)
    leaf_id = made.leaf.id

    def both() -> tuple[bytes, Any]:
        return store.context(made.conversation_id).body, store.markers(made.conversation_id)

    check_markers(both(), [reader.rows(leaf_id), reader.arrays(leaf_id)], made, len(beside))
    repetitions, warm_up = _repetitions(MARKED, shrink)
    contenders = [
        Contender(targets.MARKED, both, lambda: hold_nothing(store)),
        Contender(targets.MARKERS_ALONE, lambda: store.markers(made.conversation_id)),
        Contender(targets.POSTGRES_MARKED, lambda: reader.rows(leaf_id)),
        Contender(targets.POSTGRES_MARKED_ARRAYS, lambda: reader.arrays(leaf_id)),
    ]
    return interleave(targets.MARKERS, contenders, repetitions=repetitions, warm_up=warm_up, tick=tick)


def siblings(made: Line) -> list[Call]:
    """Calls beside every fourth of a line, one to four of them: the question again, or another one."""
    chance = random.Random(SEED)
    beside: list[Call] = []
    for number, call in enumerate(made.calls):
        if number % EVERY == 0:
            for version in range(chance.randint(1, MOST)):
                sent = call.sent if chance.random() < 0.5 else dumps([message("user", f"In other words {version}?")])
                beside.append(Call(new_id(), call.parent_id, sent, dumps([message("assistant", "Otherwise.")])))
    return beside


def check_markers(ours: tuple[bytes, Any], theirs: list[Any], made: Line, beside: int) -> None:
    """All give the path that was written and the same standings, and no sibling is left out."""
    body, markers = ours
    assert body.decode() == "[" + ",".join(text[1:-1] for c in made.calls for text in (c.sent, c.returned)) + "]"
    assert sum(marker.count - 1 for marker in markers) == beside
    told = [
        (m.node_id, m.position, m.count, list(m.siblings), m.left, m.right, m.version, m.versions, m.answer, m.answers)
        for m in markers
    ]
    for path, standings in theirs:
        assert [(str(id), sent, returned) for id, sent, returned in path] == [
            (call.id, call.sent, call.returned) for call in made.calls
        ]
        texts = [
            (str(s.node_id), s.position, s.count, [str(id) for id in s.siblings], s.left and str(s.left),
             s.right and str(s.right), s.version, s.versions, s.answer, s.answers)
            for s in standings
        ]  # fmt: skip
        assert texts == told


def _tails(neo4j: Neo4j, store: GraphStore, shrink: int, tick: Callable[[], object]) -> list[Figure]:
    made = line(max(TAIL_DEPTH // shrink, 2 * NEW), TAIL_SIZE, seed=1)
    load_line(neo4j, store, made)
    held = store.context(node_id=made.calls[-1 - NEW].id).bookmark
    hold_nothing(store)
    whole = store.context(made.conversation_id).body
    tail = store.tail(made.conversation_id, below=held)
    assert tail.nodes == tuple(call.id for call in made.calls[-NEW:])
    assert whole.endswith(b"," + tail.body[1:])
    repetitions, warm_up = _repetitions(TAILS, shrink)
    contenders = [
        Contender(
            targets.TAIL_ALONE, lambda: store.tail(made.conversation_id, below=held).body, lambda: hold_nothing(store)
        ),
        Contender(targets.WHOLE, lambda: store.context(made.conversation_id).body, lambda: hold_nothing(store)),
    ]
    return interleave(targets.TAIL, contenders, repetitions=repetitions, warm_up=warm_up, tick=tick)


def _repetitions(most: int, shrink: int) -> tuple[int, int]:
    return max(most // shrink, 2), max(most // 2 // shrink, 2)
