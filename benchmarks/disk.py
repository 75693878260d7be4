"""Bytes on disk of a conversation whose regenerations share heavy tool results.

200 turns of two calls (a question that is answered by a tool call, then its result and the answer), and each turn is
regenerated five times; the six answers of a turn stand on the same tool result of 40 KB. These are random characters of
an alphabet of 64, so that compressing them gains next to nothing that sharing doesn't.

Here it is written through the store's own verbs: turns, ``regenerate``, lookups of the branch to go on from. PostgreSQL
has one table with a row a call, each with its own copy of all that it sent, inserted whole once (no dead rows), with a
primary key and an index on the parent. Neither side keeps anything for search or screens that the other lacks, except
that our nodes have a full-text index, hashes, moves and times besides; all of it counts.

Measured is what the files of the database grew by: here those of the stopped server (a stop writes everything out),
without its transaction logs, over the same server with its empty schema; there the table with what it keeps aside and
its indexes, after a checkpoint, without the write-ahead log.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import psycopg

from benchmarks import targets
from benchmarks.data import SEED, Prose, message
from benchmarks.server import Neo4j
from benchmarks.timing import Figure
from graphstore.fingerprint import new_id
from graphstore.jsontext import dumps
from graphstore.store import GraphStore, Turn

TURNS, REGENERATIONS = 200, 5
RESULT, QUESTION, ANSWER = 40_000, 300, 1_000
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

TABLE = "shared_call"


def turns(shrink: int) -> int:
    """How many turns there are."""
    return max(TURNS // shrink, 2)


def measure(neo4j: Neo4j, connection: psycopg.Connection[Any], shrink: int, tick: Callable[[], object]) -> list[Figure]:
    """Write it on both sides; the bytes that each grew by."""
    workspace = f"benchmark-{new_id()}"
    neo4j.store(workspace).close()  # makes the schema
    empty = neo4j.bytes_at_rest()
    with neo4j.store(workspace) as store:
        conversation_id = write(store, turns(shrink), tick)
        rows = list(_rows(store, conversation_id))
    full = neo4j.bytes_at_rest()
    theirs = _postgres(connection, rows)
    return [
        Figure(targets.DISK, targets.DISK_OURS, [full - empty], "bytes"),
        Figure(targets.DISK, targets.DISK_POSTGRES, [theirs], "bytes"),
        Figure(targets.DISK, targets.DISK_TEXTS, [sum(len(row[2]) + len(row[3]) for row in rows)], "bytes"),
    ]


def write(store: GraphStore, count: int, tick: Callable[[], object] = lambda: None) -> str:
    """The conversation, by the store's own verbs; returns its id."""
    prose, chance = Prose(), random.Random(SEED)
    conversation_id = store.create_conversation()
    for number in range(count):
        question = prose.characters(QUESTION)
        result = "".join(chance.choices(ALPHABET, k=RESULT))
        with store.turn(conversation_id) as turn:
            turn.call(question, provider="openai", model="gpt-5")
            _answer(turn, f"call-{number}", result, prose)
        for attempt in range(REGENERATIONS):
            with store.regenerate(conversation_id) as turn:
                _answer(turn, f"call-{number}-{attempt}", result, prose)
        tick()
    return conversation_id


def _answer(turn: Turn, call_id: str, result: str, prose: Prose) -> None:
    """Go on from the turn's first call: its tool call, the result and the answer."""
    arguments = dumps({"query": prose.characters(60)})
    turn.current.succeed([{"type": "tool_call", "call_id": call_id, "name": "search", "arguments": arguments}])
    second = turn.call(
        [{"type": "tool_result", "call_id": call_id, "output": result}], provider="openai", model="gpt-5"
    )
    second.succeed([message("assistant", prose.characters(ANSWER))], end_turn=True)


def _rows(store: GraphStore, conversation_id: str) -> Iterator[tuple[str, str | None, str, str]]:
    """What a plain table holds of each call; that all is there and that results are shared is seen on the way."""
    nodes = store.tree(conversation_id)
    outputs = [item["output"] for node in nodes for item in node.sent if item["type"] == "tool_result"]
    assert len(outputs) * 2 == len(nodes)
    assert len(set(outputs)) * (REGENERATIONS + 1) == len(outputs)
    for node in nodes:
        yield node.id, node.parent_id, dumps(node.sent), dumps(node.returned)


def _postgres(connection: psycopg.Connection[Any], rows: list[tuple[str, str | None, str, str]]) -> int:
    connection.execute(
        f"CREATE TABLE {TABLE} (id uuid PRIMARY KEY, parent_id uuid, sent text NOT NULL, returned text NOT NULL)"
    )
    connection.execute(f"CREATE INDEX ON {TABLE} (parent_id)")
    size = f"SELECT pg_total_relation_size('{TABLE}')"
    (empty,) = connection.execute(size).fetchone() or (0,)
    for row in rows:
        connection.execute(f"INSERT INTO {TABLE} VALUES (%s, %s, %s, %s)", row, prepare=True)
    stored = connection.execute(f"SELECT id::text, parent_id::text, sent, returned FROM {TABLE} ORDER BY id").fetchall()
    assert stored == sorted(rows)
    connection.execute("CHECKPOINT")
    (full,) = connection.execute(size).fetchone() or (0,)
    return int(full - empty)
