"""A conversation is emptied under turns that began before; one export is imported by several at once."""

from __future__ import annotations

from typing import Any

import pytest
from big_trees import conversation, fan, id_of
from consistency import disagreements
from racing import RACERS, Race, ask, value

from graphstore import GraphStore
from graphstore.errors import ConversationGone, CursorMoved, NotFound, Refused


def clear_or_end(store: GraphStore, racer: int, start: Any, conversations: list[str]) -> list[str]:
    """One empties the conversation while the others end turns that began before, or begin one."""
    outcomes = []
    for conversation_id in conversations:
        turn = store.turn(conversation_id, exclusive=False)
        if racer:
            call = turn.call(f"Question {racer}")
        start.wait()
        try:
            if racer == 0:
                store.clear(conversation_id)
            else:
                call.succeed("Answer", end_turn=True)
            outcomes.append("done")
        except (ConversationGone, CursorMoved, NotFound, Refused) as refused:
            outcomes.append(type(refused).__name__)
    return outcomes


@pytest.mark.rounds(120)
@pytest.mark.rule("X3", "C2", "X4")
def test_a_turn_that_began_before_a_clear_never_brings_the_old_back(race: Race, rounds: int) -> None:
    store = race.store
    conversations = [store.create_conversation() for _ in range(rounds)]
    for conversation_id in conversations:
        ask(store, conversation_id, "Before", "Before")
    cleared, *_ = race.run(clear_or_end, conversations)
    assert cleared == ["done"] * rounds
    assert disagreements(store) == {}
    for conversation_id in conversations:
        found = store.conversation(conversation_id)
        assert (found.cursor, found.epoch) == (None, 1)
        assert store.context(conversation_id).items == []
        store.clear(conversation_id)  # what was settled too late for the first is gone with the next
        assert store.tree(conversation_id) == []
    left = "MATCH (n:Node {workspace: $workspace}) RETURN count(n)"
    assert value(store, left) == 0
    for conversation_id in conversations:
        new = ask(store, conversation_id, "After", "After").id
        assert [node.id for node in store.path(conversation_id)] == [new]


CALLS = 5


def import_them(store: GraphStore, racer: int, start: Any, names: list[str]) -> list[list[tuple[str, int, int, bool]]]:
    """All import the same exports, each of several conversations."""
    told = []
    for name in names:
        exports = [conversation(f"{name} {number}", list(fan(CALLS - 1)), "1") for number in range(3)]
        start.wait()
        told.append(
            [
                (str(one.conversation_id), one.nodes_added, one.nodes_known, one.cursor_moved)
                for one in store.import_conversations(exports if racer % 2 else exports[::-1])
            ]
        )
    return told


@pytest.mark.rounds(120)
@pytest.mark.rule("I5", "S5", "I4")
def test_one_export_imported_by_several_at_once_is_there_once(race: Race, rounds: int) -> None:
    store = race.store
    names = [f"export {number}" for number in range(rounds)]
    rows = race.run(import_them, names)
    for name, told in zip(names, zip(*rows, strict=True), strict=True):
        ids = [id_of(f"{name} {number}") for number in range(3)]
        for outcomes in told:
            assert sorted(id for id, *_ in outcomes) == sorted(ids), "one report each, for everybody"
        for id in ids:
            reports = [outcome for outcomes in told for outcome in outcomes if outcome[0] == id]
            assert len(reports) == RACERS
            assert sorted(added for _, added, _, _ in reports) == [0] * (RACERS - 1) + [CALLS]
            assert {added + known for _, added, known, _ in reports} == {CALLS}
            assert sum(moved for *_, moved in reports) == 1
            assert len(store.tree(id)) == CALLS
            assert [move.reason for move in store.moves(id)] == ["import"]
    assert len(list(store.conversations())) == 3 * rounds
    assert disagreements(store) == {}
