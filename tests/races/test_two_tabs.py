"""Two tabs, one thread: the rule C3 from its beginning to its end."""

from __future__ import annotations

import pytest
from racing import ask

from graphstore import Call, GraphStore, Turn
from graphstore.errors import CursorMoved


def two_tabs(store: GraphStore) -> tuple[str, Call, Turn, list[Call]]:
    """Both tabs start from the same node; the first has ended, the second is about to, after two rounds."""
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Hello", "Hello")
    first, second = (store.turn(conversation_id, exclusive=False, owner=tab) for tab in ("one", "two"))
    left = first.call("From the first tab")
    calls = [second.call("From the second tab")]
    left.succeed("Answer to the first")
    first.end()
    calls[0].succeed([{"type": "tool_call", "call_id": "t", "name": "look", "arguments": "{}"}])
    calls.append(second.call([{"type": "tool_result", "call_id": "t", "output": "seen"}]))
    calls[1].succeed("Answer to the second")
    return conversation_id, left, second, calls


def contents(store: GraphStore, conversation_id: str) -> list[str]:
    return [item["content"] for item in store.context(conversation_id).items if "content" in item]


@pytest.mark.rule("C3", "C2")
def test_the_second_tab_is_refused_and_told_where_its_nodes_are(store: GraphStore) -> None:
    conversation_id, left, second, calls = two_tabs(store)
    with pytest.raises(CursorMoved) as refused:
        second.end()
    assert refused.value.kept == calls[1].id
    assert refused.value.cursor == left.id
    assert calls[1].id in str(refused.value)
    assert contents(store, conversation_id) == ["Hello", "Hello", "From the first tab", "Answer to the first"]


@pytest.mark.rule("C3", "C4")
def test_leaving_the_with_block_tells_it_too(store: GraphStore) -> None:
    conversation_id, _, second, calls = two_tabs(store)
    with pytest.raises(CursorMoved), second:
        pass
    (unseen,) = store.unseen_branches(conversation_id)
    assert (unseen.node_id, unseen.turn_id) == (calls[1].id, second.id)
    last = store.moves(conversation_id)[-1]
    assert (last.accepted, last.from_id is not None, last.to_id) == (False, True, calls[1].id)


@pytest.mark.rule("C3", "B4", "B5")
def test_the_kept_branch_is_a_sibling_one_can_switch_to(store: GraphStore) -> None:
    conversation_id, left, second, calls = two_tabs(store)
    with pytest.raises(CursorMoved):
        second.end()
    marker = store.markers(conversation_id)[-1]
    assert (marker.position, marker.count, marker.siblings) == (1, 2, (left.id, calls[0].id))
    assert store.switch(conversation_id, calls[0].id) == calls[1].id
    assert contents(store, conversation_id)[2:] == ["From the second tab", "Answer to the second"]
    assert store.unseen_branches(conversation_id) == [], "it has been looked at"
    assert store.switch(conversation_id, left.id) == left.id
    assert store.unseen_branches(conversation_id) == [], "and stays so"


@pytest.mark.rule("C3")
def test_a_dismissed_branch_is_no_longer_listed_but_its_nodes_stay(store: GraphStore) -> None:
    conversation_id, left, second, calls = two_tabs(store)
    with pytest.raises(CursorMoved):
        second.end()
    for _ in range(2):
        store.dismiss(conversation_id, calls[1].id)
    assert store.unseen_branches(conversation_id) == []
    assert {call.id for call in calls} < {node.id for node in store.tree(conversation_id)}
    assert store.conversation(conversation_id).cursor == left.id


@pytest.mark.rule("C3", "F1")
def test_a_failed_call_that_lost_the_race_is_kept_as_well(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Hello", "Hello")
    second = store.turn(conversation_id, exclusive=False)
    call = second.call("From the second tab")
    first = ask(store, conversation_id, "From the first tab", "Answer")
    with pytest.raises(CursorMoved) as refused:
        call.fail("timeout", "no answer")
    assert (refused.value.kept, refused.value.cursor) == (call.id, first.id)
    assert [branch.node_id for branch in store.unseen_branches(conversation_id)] == [call.id]


@pytest.mark.rule("C3", "C1")
def test_two_tabs_that_both_ask_the_first_question(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    turns = [store.turn(conversation_id, exclusive=False) for _ in range(2)]
    calls = [turn.call(f"First question {number}") for number, turn in enumerate(turns)]
    for call in calls:
        call.succeed("Answer")
    turns[1].end()
    with pytest.raises(CursorMoved) as refused:
        turns[0].end()
    assert refused.value.expected is None
    marker = store.markers(conversation_id)[0]
    assert (marker.position, marker.siblings) == (2, (calls[0].id, calls[1].id))
    assert [branch.node_id for branch in store.unseen_branches(conversation_id)] == [calls[0].id]


@pytest.mark.rule("C3", "C4")
def test_ending_the_refused_turn_again_records_nothing_more(store: GraphStore) -> None:
    conversation_id, left, second, _ = two_tabs(store)
    with pytest.raises(CursorMoved):
        second.end()
    moves = store.moves(conversation_id)
    second.end()
    assert store.moves(conversation_id) == moves
    assert store.conversation(conversation_id).cursor == left.id
