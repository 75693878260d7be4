"""One pending call, several completions at once: one is stored, and a different one is refused."""

from __future__ import annotations

from typing import Any

import pytest
from racing import RACERS, Race, ask, value

from graphstore import Call, GraphStore, Status, Turn
from graphstore.context import Context
from graphstore.errors import AlreadySettled
from graphstore.items import NO_ITEMS


def the_same_call(store: GraphStore, conversation_id: str, node_id: str, turn_id: str, began_at: str) -> Call:
    """A pending call as another process sees it that serves the same turn."""
    turn = Turn(store.session, conversation_id, owner=None, exclusive=True, lease_seconds=60, turn_id=turn_id)
    turn.started_from = began_at
    turn.last_id = node_id
    call = Call(turn, node_id, Context(None, NO_ITEMS), NO_ITEMS)
    turn.calls.append(call)
    return call


def complete(
    store: GraphStore, racer: int, start: Any, calls: list[tuple[str, str, str, str]], same: bool
) -> list[Any]:
    outcomes = []
    for known in calls:
        call = the_same_call(store, *known)
        answer = "the answer" if same else f"answer {racer}"
        start.wait()
        try:
            if racer == RACERS - 1 and not same:
                call.fail("timeout", "no answer came")
            else:
                call.succeed(answer)
            outcomes.append(answer)
        except AlreadySettled:
            outcomes.append(None)
    return outcomes


def pending_calls(store: GraphStore, rounds: int) -> list[tuple[str, str, str, str]]:
    calls = []
    for _ in range(rounds):
        conversation_id = store.create_conversation()
        root = ask(store, conversation_id, "Before", "Before").id
        turn = store.turn(conversation_id)
        calls.append((conversation_id, turn.call("Question").id, turn.id, root))
    return calls


@pytest.mark.rule("S2")
def test_of_different_completions_exactly_one_is_stored(race: Race, rounds: int) -> None:
    store = race.store
    calls = pending_calls(store, rounds)
    rows = race.run(complete, calls, False)
    for (_, node_id, _, _), outcomes in zip(calls, zip(*rows, strict=True), strict=True):
        (winner,) = [answer for answer in outcomes if answer is not None]
        node = store.node(node_id)
        if node.status is Status.FAILED:
            assert winner == f"answer {RACERS - 1}"
            assert node.returned == []
        else:
            assert node.returned[0]["content"] == winner
            assert node.failure is None


@pytest.mark.rule("S2", "S5")
def test_of_equal_completions_all_are_accepted_and_one_is_stored(race: Race, rounds: int) -> None:
    store = race.store
    calls = pending_calls(store, rounds)
    rows = race.run(complete, calls, True)
    assert rows == [["the answer"] * rounds] * RACERS
    for conversation_id, node_id, turn_id, root in calls:
        assert [item["content"] for item in store.node(node_id).returned] == ["the answer"]
        assert store.conversation(conversation_id).cursor == root, "the turn has not ended"
        running = store.conversation(conversation_id).turn
        assert running is not None
        assert running.turn_id == turn_id


def complete_and_end(store: GraphStore, racer: int, start: Any, calls: list[tuple[str, str, str, str]]) -> list[str]:
    outcomes = []
    for known in calls:
        call = the_same_call(store, *known)
        start.wait()
        try:
            call.succeed("the answer", end_turn=True)
            outcomes.append("ended")
        except Exception as error:  # noqa: BLE001 - the test says which are right
            outcomes.append(type(error).__name__)
    return outcomes


@pytest.mark.rule("S2", "S5", "C2")
def test_the_same_completion_that_ends_the_turn_moves_the_cursor_once(race: Race, rounds: int) -> None:
    store = race.store
    calls = pending_calls(store, rounds)
    rows = race.run(complete_and_end, calls)
    assert rows == [["ended"] * rounds] * RACERS
    for conversation_id, node_id, _, root in calls:
        assert [(move.from_id, move.to_id) for move in store.moves(conversation_id)] == [(None, root), (root, node_id)]
        assert store.unseen_branches(conversation_id) == []


@pytest.mark.rule("S2")
def test_a_failure_that_calls_itself_lost_is_settled_all_the_same(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    turn = store.turn(conversation_id, exclusive=False)
    call = turn.call("Question")
    call.fail("lost", "the caller's own word for it")
    with pytest.raises(AlreadySettled):
        call.succeed("too late")
    assert store.node(call.id).status is Status.FAILED


@pytest.mark.rule("S2")
def test_a_settled_node_is_never_written_again(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        call = turn.call("Question")
        call.succeed("Answer", usage={"input_tokens": 3})
        before = value(store, "MATCH (n:Node {workspace: $workspace, id: $id}) RETURN properties(n)", id=call.id)
        call.succeed("Answer", usage={"input_tokens": 3})
        for different in ({"returned": "Another"}, {"returned": "Answer", "usage": {"input_tokens": 4}}):
            with pytest.raises(AlreadySettled):
                call.succeed(**different)
        after = value(store, "MATCH (n:Node {workspace: $workspace, id: $id}) RETURN properties(n)", id=call.id)
    assert {**after, "finished_at": None} == {**before, "finished_at": None}
    assert after["finished_at"] == before["finished_at"]
