"""Writing calls: a turn of one call and a call that is known whole, against PostgreSQL doing the same.

Both sides write the same texts, each into a conversation of its own that grows by a call at a time. A turn here is
what a program does: ``store.turn``, ``turn.call`` (which also gives the context to send) and
``call.succeed(…, end_turn=True)``. PostgreSQL's two transactions are ``benchmarks.postgres_calls``; they assemble no
context.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from benchmarks import postgres_calls, targets
from benchmarks.data import Prose, message
from benchmarks.postgres import Postgres, connect
from benchmarks.server import Neo4j
from benchmarks.timing import Contender, Figure, interleave
from benchmarks.writers import Side, race
from graphstore.fingerprint import new_id
from graphstore.store import GraphStore

SIZE = 1_000
TEXTS = 200
USAGE = {"input_tokens": 1000, "output_tokens": 200}

# The server's compiler has finished with the statements of a call only after some thousands of them.
REPETITIONS, WARM_UP = 400, 2_500
WRITERS, ROUNDS, CALLS = 8, 5, 60


def rounds(shrink: int) -> int:
    """How often ``measure`` ticks."""
    return sum(_repetitions(shrink)) + 2 * (_race_rounds(shrink) + 1)


def measure(neo4j: Neo4j, postgres: Postgres, shrink: int, tick: Callable[[str], object]) -> list[Figure]:
    """One writer, then eight."""
    repetitions, warm_up = _repetitions(shrink)
    with postgres.connect() as connection, neo4j.store(f"benchmark-{new_id()}") as store:
        postgres_calls.create_tables(connection)
        check(store, connection)
        statements, one = (
            form.create(connection, new_id()) for form in (postgres_calls.Statements, postgres_calls.OneStatement)
        )
        turns = Turns(store)
        contenders = [
            Contender(targets.TURN, turns.turn),
            Contender(targets.RECORDED, turns.record),
            Contender(targets.POSTGRES_TURN, lambda: turn_of(statements, turns.texts)),
            Contender(targets.POSTGRES_TURN_ONE, lambda: turn_of(one, turns.texts)),
            Contender(targets.POSTGRES_RECORDED, lambda: statements.record(*next(turns.texts), usage())),
            Contender(targets.POSTGRES_RECORDED_ONE, lambda: one.record(*next(turns.texts), usage())),
        ]
        figures = interleave(
            targets.ONE_WRITER,
            contenders,
            repetitions=repetitions,
            warm_up=warm_up,
            tick=lambda: tick(targets.ONE_WRITER),
        )
        workspace = store.workspace
    auth = (neo4j.endpoint.username, neo4j.endpoint.password)
    sides = [
        Side(targets.TURN, open_graph, (neo4j.endpoint.uri, auth, workspace)),
        Side(targets.POSTGRES_TURN, open_postgres, (postgres.address(),)),
    ]
    writers, calls = max(WRITERS // shrink, 2), max(CALLS // shrink, 2)
    figures += race(
        targets.EIGHT_WRITERS, sides, writers, calls, _race_rounds(shrink), lambda: tick(targets.EIGHT_WRITERS)
    )
    return figures


def check(store: GraphStore, connection: Any) -> None:
    """Every contender stores what it was given, moves the cursor, logs that, frees the turn, and refuses a loser."""
    texts = list(itertools.islice(pairs(), 4))
    written = [(orjson.loads(sent), orjson.loads(returned)) for sent, returned in texts]
    turns = Turns(store, iter(texts))
    for write in (turns.turn, turns.turn):
        write()
    recorded = Turns(store, iter(texts), turns.conversation_id)
    for _ in range(2):
        next(recorded.texts)
    for _ in range(2):
        recorded.record()
    path = store.path(turns.conversation_id)
    assert [(node.sent, node.returned) for node in path] == written
    moves = store.moves(turns.conversation_id)
    ends = [node.id for node in path]
    assert [(move.from_id, move.to_id, move.accepted) for move in moves] == [
        (before, after, True) for before, after in zip([None, *ends], ends, strict=False)
    ]
    assert store.conversation(turns.conversation_id).turn is None
    for form in (postgres_calls.Statements, postgres_calls.OneStatement):
        one = form.create(connection, new_id())
        feed = iter(texts)
        ends = [turn_of(one, feed), turn_of(one, feed), *(one.record(*next(feed), usage()) for _ in range(2))]
        assert [(orjson.loads(sent), orjson.loads(returned)) for sent, returned in one.path()] == written
        assert one.moves() == [(before, after, True) for before, after in zip([None, *ends], ends, strict=False)]
        late, holder = form(connection, one.id, ends[0]), form(connection, one.id, ends[-1])
        holder.begin(texts[0][0], new_id())
        for attempt in (late, holder):
            try:
                attempt.begin(texts[0][0], new_id())
            except postgres_calls.Refused:
                continue
            raise AssertionError(f"{form.__name__} let a second turn begin")


class Turns:
    """A conversation of the store, and a process that writes to it; a recorder of it writes to one of its own."""

    def __init__(
        self, store: GraphStore, texts: Iterator[tuple[str, str]] | None = None, conversation_id: str | None = None
    ) -> None:
        self._store = store
        self.texts = pairs() if texts is None else texts
        self.conversation_id = conversation_id or store.create_conversation()
        self._recorder = store.recorder(conversation_id or store.create_conversation())

    def turn(self) -> None:
        sent, returned = next(self.texts)
        with self._store.turn(self.conversation_id, owner="owner") as turn:
            call = turn.call(orjson.loads(sent), provider="openai", model="gpt-5")
            call.succeed(orjson.loads(returned), usage=USAGE, finish_reason="stop", end_turn=True)

    def record(self) -> None:
        sent, returned = next(self.texts)
        self._recorder.record(
            orjson.loads(sent),
            orjson.loads(returned),
            usage=USAGE,
            finish_reason="stop",
            provider="openai",
            model="gpt-5",
        )


def turn_of(conversation: Any, texts: Iterator[tuple[str, str]]) -> str:
    """PostgreSQL's two transactions; returns the call's id."""
    sent, returned = next(texts)
    turn_id = new_id()
    call_id: str = conversation.begin(sent, turn_id)
    conversation.complete(call_id, turn_id, returned, usage())
    return call_id


def pairs() -> Iterator[tuple[str, str]]:
    """The JSON text of a question and an answer, for ever."""
    prose = Prose()
    made = [
        tuple(orjson.dumps([message(role, prose.characters(SIZE))]).decode() for role in ("user", "assistant"))
        for _ in range(TEXTS)
    ]
    yield from itertools.cycle(made)  # type: ignore[misc]


def usage() -> str:
    return orjson.dumps(USAGE).decode()


def open_graph(uri: str, auth: tuple[str, str], workspace: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """In a process of its own: what writes a call to a new conversation, and what closes the connection."""
    store = GraphStore.connect(uri, auth=auth, workspace=workspace)
    return Turns(store).turn, store.close


def open_postgres(address: dict[str, Any]) -> tuple[Callable[[], object], Callable[[], object]]:
    """As ``open_graph``."""
    connection = connect(address)
    conversation = postgres_calls.Statements.create(connection, new_id())
    texts = pairs()
    return lambda: turn_of(conversation, texts), connection.close


def _repetitions(shrink: int) -> tuple[int, int]:
    return max(REPETITIONS // shrink, 2), max(WARM_UP // shrink, 2)


def _race_rounds(shrink: int) -> int:
    return max(ROUNDS // shrink, 2)
