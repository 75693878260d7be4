"""Deleting a conversation of 100,000 calls: a line with a regenerated answer beside every tenth.

Through the store's own verb, everything included: marking it, its history of moves, the search for what others stand
on, and the batches, children first. Beside it stands a conversation that must stay whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks import targets
from benchmarks.data import Call, Line, line
from benchmarks.server import BATCH, Neo4j, load_beside, load_line
from benchmarks.timing import Figure
from graphstore.fingerprint import new_id
from graphstore.store import GraphStore

NODES, SIZE, EVERY = 100_000, 500, 10
REPETITIONS = 3


def rounds(shrink: int) -> int:
    """How often ``measure`` ticks."""
    return (REPETITIONS + 1) * 2 * _nodes(shrink) // BATCH


def measure(neo4j: Neo4j, shrink: int, tick: Callable[[str], object]) -> list[Figure]:
    """Nodes a second, of three conversations; a first, smaller one warms up and doesn't count."""
    nodes = _nodes(shrink)
    with neo4j.store(f"benchmark-{new_id()}") as store:
        other = line(50, SIZE, seed=2)
        load_line(neo4j, store, other)
        before = store.context(other.conversation_id).body
        delete(neo4j, store, max(nodes // 5, 2 * EVERY), tick)
        rates = [delete(neo4j, store, nodes, tick) for _ in range(REPETITIONS)]
        assert store.context(other.conversation_id).body == before
        assert len(store.path(other.conversation_id)) == len(other.calls)
    return [Figure(targets.DELETION, targets.DELETED, rates, "nodes/s")]


def delete(neo4j: Neo4j, store: GraphStore, nodes: int, tick: Callable[[str], object]) -> float:
    """Write a conversation of so many nodes and delete it: nodes a second. That nothing of it is left is seen after."""
    made, beside = _tree(nodes)
    load_line(neo4j, store, made, lambda: tick("writing"))
    load_beside(neo4j, store, made.conversation_id, beside)
    neo4j.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    gone = 0

    def count(batch: int) -> None:
        nonlocal gone
        gone += batch
        if gone % BATCH < batch:
            tick("deleting")

    start = time.perf_counter()
    receipt = store.delete_conversation(made.conversation_id, progress=count)
    seconds = time.perf_counter() - start
    assert (receipt.nodes, receipt.kept, gone) == (nodes, (), nodes), receipt
    left = neo4j.read(
        "RETURN COUNT { MATCH (:Node {workspace: $workspace, conversation_id: $id}) },"
        " COUNT { MATCH (:Conversation {workspace: $workspace, id: $id}) }",
        workspace=store.workspace,
        id=made.conversation_id,
    )
    assert left == [[0, 0]], left
    return nodes / seconds


def _tree(nodes: int) -> tuple[Line, list[Call]]:
    """A line, and a sibling beside each tenth of its calls: ``nodes`` in all."""
    beside = nodes // (EVERY + 1)
    made = line(nodes - beside, SIZE)
    spots = made.calls[EVERY - 1 :: EVERY][:beside]
    siblings = [Call(new_id(), call.parent_id, call.sent, call.returned) for call in spots]
    return made, siblings


def _nodes(shrink: int) -> int:
    return max(NODES // shrink, 4 * EVERY)
