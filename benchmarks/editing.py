"""Editing a question near the end and at the start, in a short and in a long conversation."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import targets
from benchmarks.data import Line, line
from benchmarks.server import Neo4j, load_line
from benchmarks.timing import Contender, Figure, interleave
from graphstore.store import GraphStore, Turn

TURNS = (10, 1_000)
SIZE = 2000


def measure(
    neo4j: Neo4j, store: GraphStore, shrink: int, repetitions: int, tick: Callable[[str], object]
) -> list[Figure]:
    """Edit and write the new pending call with its context, by a process that holds the conversations' contexts."""
    contenders: list[Contender] = []
    for turns in TURNS:
        made = line(max(turns // shrink, 3), SIZE, seed=turns)
        load_line(neo4j, store, made)
        store.context(made.conversation_id)
        for which, call in (("last", made.calls[-1]), ("first", made.calls[0])):
            edit = Edit(store, made, call.id)
            contenders.append(Contender(f"{which} of {turns:,}", edit.begin, restore=edit.undo))
    return interleave(
        targets.EDITS,
        contenders,
        repetitions=repetitions,
        warm_up=max(repetitions // 2, 2),
        tick=lambda: tick(targets.EDITS),
    )


class Edit:
    """One edit of a question; undone by switching back to the branch that was there."""

    def __init__(self, store: GraphStore, made: Line, node_id: str) -> None:
        self._store = store
        self._made = made
        self._node_id = node_id
        self._turn: Turn | None = None
        self._count = 0

    def begin(self) -> str:
        self._count += 1
        self._turn = self._store.edit(self._made.conversation_id, self._node_id, f"Another question, {self._count}")
        return self._turn.current.context.hash

    def undo(self) -> None:
        assert self._turn is not None
        self._turn.current.succeed("An answer.", end_turn=True)
        self._store.switch(self._made.conversation_id, self._made.leaf.id)


def reads_of_later_rounds(store: GraphStore, count_reads: Callable[[], int], rounds: int = 4) -> int:
    """How many reading statements the second and later rounds of a turn send."""
    conversation_id = store.create_conversation()
    reads = 0
    with store.turn(conversation_id) as turn:
        for number in range(rounds):
            before = count_reads()
            if number == 0:
                call = turn.call("What is the weather?")
            else:
                result = {"type": "tool_result", "call_id": f"call-{number - 1}", "output": "sunny"}
                call = turn.call([result])
            assert len(call.context.items) == 1 + 2 * number
            if number > 0:
                reads += count_reads() - before
            if number < rounds - 1:
                call.succeed([{"type": "tool_call", "call_id": f"call-{number}", "name": "weather", "arguments": "{}"}])
            else:
                call.succeed("It is sunny.")
    return reads
