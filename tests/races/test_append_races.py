"""The same id written at once: one thing is made, and whoever meant another is told."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.exceptions import ConstraintError
from racing import RACERS, Race, ask, cursors, value

from graphstore import GraphStore, Turn
from graphstore.errors import CursorMoved, IdConflict

CONFLICT = "IdConflict"


def append(
    store: GraphStore, racer: int, start: Any, rounds: list[tuple[str, str]], turn_id: str, same: bool
) -> list[str]:
    """Begin the call of the given id, all for one turn."""
    outcomes = []
    for conversation_id, node_id in rounds:
        turn = Turn(store.session, conversation_id, owner=None, exclusive=True, lease_seconds=60, turn_id=turn_id)
        question = "The question" if same else f"Question {racer}"
        start.wait()
        try:
            turn.call(question, id=node_id, system="Be brief.", model="m")
            outcomes.append(question)
        except IdConflict:
            outcomes.append(CONFLICT)
    return outcomes


@pytest.mark.rule("S5", "S1")
@pytest.mark.parametrize("same", [True, False], ids=["same content", "other content"])
def test_the_same_node_id_written_at_once_makes_one_node(race: Race, rounds: int, same: bool) -> None:
    store = race.store
    places = []
    for number in range(rounds):
        conversation_id = store.create_conversation()
        ask(store, conversation_id, "Before", "Before")
        places.append((conversation_id, f"node {number}"))
    rows = race.run(append, places, "the turn", same)
    for (conversation_id, node_id), outcomes in zip(places, zip(*rows, strict=True), strict=True):
        written = {outcome for outcome in outcomes if outcome != CONFLICT}
        assert len(written) == 1
        if same:
            assert CONFLICT not in outcomes
        else:
            assert outcomes.count(CONFLICT) == RACERS - 1
        assert [item["content"] for item in store.node(node_id).sent] == [*written]
        assert len(store.tree(conversation_id)) == 2
        assert _parents(store, node_id) == 1


def _parents(store: GraphStore, node_id: str) -> int:
    count: int = value(
        store, "RETURN COUNT { (:Node {workspace: $workspace, id: $id})-[:PARENT]->() } AS parents", id=node_id
    )
    return count


def append_elsewhere(store: GraphStore, racer: int, start: Any, rounds: list[list[str]]) -> list[str]:
    """Begin a call of one id, each racer in a conversation of its own."""
    outcomes = []
    for number, conversations in enumerate(rounds):
        start.wait()
        try:
            store.turn(conversations[racer]).call("The question", id=f"shared {number}")
            outcomes.append(conversations[racer])
        except IdConflict:
            outcomes.append(CONFLICT)
    return outcomes


@pytest.mark.rule("S5")
def test_the_same_node_id_under_different_parents_is_given_to_one_of_them(race: Race, rounds: int) -> None:
    store = race.store
    places = [[store.create_conversation() for _ in range(RACERS)] for _ in range(rounds)]
    for conversations in places:
        for conversation_id in conversations:
            ask(store, conversation_id, "Before", "Before")
    rows = race.run(append_elsewhere, places)
    for number, outcomes in enumerate(zip(*rows, strict=True)):
        (winner,) = [outcome for outcome in outcomes if outcome != CONFLICT]
        assert store.node(f"shared {number}").conversation_id == winner
        assert _parents(store, f"shared {number}") == 1


def correct(store: GraphStore, racer: int, start: Any, places: list[tuple[str, str]]) -> list[str]:
    outcomes = []
    for conversation_id, node_id in places:
        start.wait()
        outcomes.append(store.correct(conversation_id, "Right.", node_id=node_id, id=f"corrected {conversation_id}"))
    return outcomes


@pytest.mark.rule("S5", "B2")
def test_the_same_correction_sent_at_once_makes_one_node_and_one_move(race: Race, rounds: int) -> None:
    store = race.store
    places = []
    for _ in range(rounds):
        conversation_id = store.create_conversation()
        places.append((conversation_id, ask(store, conversation_id, "Question", "Wrong.").id))
    race.run(correct, places)
    for conversation_id, _ in places:
        assert len(store.tree(conversation_id)) == 2
        assert len(store.moves(conversation_id)) == 2
        assert cursors(store, conversation_id) == [f"corrected {conversation_id}"]


def create(store: GraphStore, racer: int, start: Any, ids: list[str], same: bool) -> list[str]:
    outcomes = []
    for id in ids:
        start.wait()
        try:
            outcomes.append(store.create_conversation(id=id, title="The title" if same else f"Title {racer}"))
        except IdConflict:
            outcomes.append(CONFLICT)
    return outcomes


@pytest.mark.rule("S5")
@pytest.mark.parametrize("same", [True, False], ids=["same title", "other title"])
def test_one_conversation_id_created_at_once_makes_one_conversation(race: Race, rounds: int, same: bool) -> None:
    store = race.store
    ids = [f"conversation {number}" for number in range(rounds)]
    rows = race.run(create, ids, same)
    for id, outcomes in zip(ids, zip(*rows, strict=True), strict=True):
        assert outcomes.count(id) == (RACERS if same else 1)
    assert sorted(conversation.id for conversation in store.conversations()) == sorted(ids)


def fork(store: GraphStore, racer: int, start: Any, places: list[tuple[str, str]], same: bool) -> list[str]:
    outcomes = []
    for number, (parent, child) in enumerate(places):
        start.wait()
        try:
            outcomes.append(store.fork(child if same or racer % 2 else parent, id=f"fork {number}", title="Fork"))
        except IdConflict:
            outcomes.append(CONFLICT)
    return outcomes


@pytest.mark.rule("S5", "X1")
@pytest.mark.parametrize("same", [True, False], ids=["same node", "other node"])
def test_one_fork_id_raced_for_makes_one_fork(race: Race, rounds: int, same: bool) -> None:
    store = race.store
    conversation_id = store.create_conversation()
    places = []
    for number in range(rounds):
        parent = store.conversation(conversation_id).cursor
        child = ask(store, conversation_id, f"Q{number}", "A").id
        places.append((parent or child, child))
    places = [place for place in places if place[0] != place[1]]
    rows = race.run(fork, places, same)
    for number, outcomes in enumerate(zip(*rows, strict=True)):
        made = store.conversation(f"fork {number}")
        assert made.forked_at == made.cursor
        assert made.forked_at in places[number]
        assert outcomes.count(CONFLICT) == (0 if same else RACERS // 2)
        assert cursors(store, made.id) == [made.cursor]
        assert [move.to_id for move in store.moves(made.id)] == [made.cursor]


@pytest.mark.rule("S5")
def test_a_fork_repeated_with_another_title_is_refused(store: GraphStore) -> None:
    conversation_id = store.create_conversation(title="Original")
    node_id = ask(store, conversation_id, "Q", "A").id
    for _ in range(2):
        assert store.fork(node_id, id="the fork", title="One") == "the fork"
    with pytest.raises(IdConflict):
        store.fork(node_id, id="the fork", title="Two")
    with pytest.raises(IdConflict):
        store.fork(node_id, id="the fork", title="One", metadata={"other": True})


@pytest.mark.rule("S5")
def test_creating_a_conversation_again_is_accepted_also_after_its_first_turn(store: GraphStore) -> None:
    for _ in range(2):
        assert store.create_conversation(id="thread", title="T") == "thread"
        ask(store, "thread", "Q", "A")
    assert len(store.path("thread")) == 2
    with pytest.raises(IdConflict):
        store.create_conversation(id="thread", title="Another")
    store.fork(store.path("thread")[0].id, id="fork", title="T")
    with pytest.raises(IdConflict):
        store.create_conversation(id="fork", title="T")


@pytest.mark.rule("S1", "C1", "K1")
@pytest.mark.parametrize(
    ("kind", "second"),
    [
        ("PARENT", "MATCH (a:Node {workspace: $w, id: $child}), (b:Node {workspace: $w, id: $other}) "
                   "CREATE (a)-[:PARENT {workspace: $w, child_id: $child}]->(b)"),
        ("CURSOR", "MATCH (a:Conversation {workspace: $w, id: $conversation}), (b:Node {workspace: $w, id: $other}) "
                   "CREATE (a)-[:CURSOR {workspace: $w, conversation_id: $conversation}]->(b)"),
        ("COMPACTS", "MATCH (a:Node {workspace: $w, id: $compaction}), (b:Node {workspace: $w, id: $other}) "
                     "CREATE (a)-[:COMPACTS {workspace: $w, compaction_id: $compaction}]->(b)"),
    ],
)  # fmt: skip
def test_the_database_itself_refuses_a_second(store: GraphStore, kind: str, second: str) -> None:
    conversation_id = store.create_conversation()
    other = ask(store, conversation_id, "Q1", "A1").id
    child = ask(store, conversation_id, "Q2", "A2").id
    compaction = store.compact(conversation_id, "All that was said.")
    with store.session.database.session("write") as session, pytest.raises(ConstraintError):
        session.run(
            second,  # type: ignore[arg-type]
            w=store.workspace, child=child, other=other, conversation=conversation_id, compaction=compaction,
        ).consume()  # fmt: skip


def compact(store: GraphStore, racer: int, start: Any, places: list[tuple[str, str]], same: bool) -> list[str]:
    outcomes = []
    for number, (conversation_id, node_id) in enumerate(places):
        start.wait()
        name = f"compaction {number}" if same else f"compaction {number} of {racer}"
        try:
            outcomes.append(store.compact(conversation_id, "In short.", expected=node_id, id=name))
        except CursorMoved as refused:
            outcomes.append(f"refused: {refused.cursor}")
    return outcomes


@pytest.mark.rule("K4", "S5", "C2")
@pytest.mark.parametrize("same", [True, False], ids=["same id", "other ids"])
def test_of_compactions_of_one_end_at_once_one_becomes_the_end(race: Race, rounds: int, same: bool) -> None:
    store = race.store
    places = []
    for _ in range(rounds):
        conversation_id = store.create_conversation()
        places.append((conversation_id, ask(store, conversation_id, "Q", "A").id))
    rows = race.run(compact, places, same)
    for (conversation_id, node_id), outcomes in zip(places, zip(*rows, strict=True), strict=True):
        cursor = store.conversation(conversation_id).cursor
        assert [(move.from_id, move.to_id) for move in store.moves(conversation_id)][1:] == [(node_id, cursor)]
        assert outcomes.count(cursor) == (RACERS if same else 1)
        assert outcomes.count(f"refused: {cursor}") == (0 if same else RACERS - 1)
