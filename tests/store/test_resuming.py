"""Turns handed over between processes: whoever has a call's id goes on with its turn (rules S2, S4, C5, C7, F1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conversing import said, talk, tool_call, tool_result

from graphstore import GraphStore, errors


@pytest.fixture
def elsewhere(new_process_store: Callable[[], GraphStore]) -> Callable[..., object]:
    """Go on with a turn as another process would that holds nothing."""
    return lambda node_id, **options: new_process_store().resume_turn(node_id, **options)


@pytest.mark.rule("S2", "S4")
def test_each_step_of_a_turn_may_be_made_by_another_process(store, elsewhere):
    conversation_id, (before,) = talk(store, ("Q1", "A1"))
    began = store.turn(conversation_id, owner="web")
    first = began.call("Q2", provider="openai", model="m", system="Be short.", response_format={"type": "text"})
    elsewhere(first.id).current.succeed([tool_call("c1")])
    second = elsewhere(first.id).call([tool_result("c1")], provider="openai", model="m")
    assert second.context.hash == store.saw_by_model(second.id).recorded_hash
    assert second.context.settings.system == "Be short."
    assert second.context.settings.response_format == {"type": "text"}
    elsewhere(second.id).current.succeed("A2")
    assert store.conversation(conversation_id).cursor == before
    elsewhere(second.id).end()
    conversation = store.conversation(conversation_id)
    assert (conversation.cursor, conversation.turn) == (second.id, None)
    assert [(node.turn_id, node.round) for node in store.path(conversation_id)][1:] == [(began.id, 0), (began.id, 1)]
    assert said(store.context(conversation_id))[-1] == "A2"


@pytest.mark.rule("A5", "R1")
def test_a_call_begun_elsewhere_shows_what_it_sends_when_asked(store, elsewhere):
    conversation_id, _ = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    call = store.turn(conversation_id).call("Q3", newest_turns=1)
    assert elsewhere(call.id).current.context.items == call.context.items
    assert said(call.context) == ["Q2", "A2", "Q3"]


@pytest.mark.rule("S2", "S4")
def test_every_step_may_be_repeated(store, elsewhere):
    conversation_id = store.create_conversation()
    first = store.turn(conversation_id).call("Q", id="n1")
    for _ in range(2):
        elsewhere(first.id).current.succeed([tool_call("c")])
    for _ in range(2):
        assert elsewhere(first.id).call([tool_result("c")], id="n2").id == "n2"
    for _ in range(2):
        elsewhere("n2").current.succeed("A", end_turn=True)
    for _ in range(2):
        elsewhere("n2").end()
    assert [node.id for node in store.path(conversation_id)] == ["n1", "n2"]
    assert len(store.moves(conversation_id)) == 1


@pytest.mark.rule("F1", "F3")
def test_an_overflow_told_by_another_process_leaves_the_cursor_at_the_last_success(store, elsewhere):
    conversation_id = store.create_conversation()
    first = store.turn(conversation_id).call("Q")
    elsewhere(first.id).current.succeed([tool_call("c")])
    second = elsewhere(first.id).call([tool_result("c")])
    elsewhere(second.id).current.fail("context_overflow")
    assert store.conversation(conversation_id).cursor == first.id


@pytest.mark.rule("S4")
def test_two_that_go_on_from_one_call_make_one_line(store, elsewhere):
    conversation_id = store.create_conversation()
    first = store.turn(conversation_id).call("Q")
    elsewhere(first.id).current.succeed([tool_call("c")])
    left, right = elsewhere(first.id), elsewhere(first.id)
    second = left.call([tool_result("c", "left")])
    with pytest.raises(errors.RoundTaken) as told:
        right.call([tool_result("c", "right")])
    assert told.value.last_id == second.id
    assert [node.id for node in store.tree(conversation_id)] == [first.id, second.id]


@pytest.mark.rule("C7")
def test_a_turn_is_renewed_by_whoever_has_it_and_lost_once_taken_over(store, elsewhere):
    conversation_id = store.create_conversation()
    call = store.turn(conversation_id, lease_seconds=30).call("Q")
    before = store.conversation(conversation_id).turn.expires_at
    until = elsewhere(call.id).renew(600)
    assert store.conversation(conversation_id).turn.expires_at == until > before
    elsewhere(call.id).renew(0.001)
    held = elsewhere(call.id)
    with store.turn(conversation_id) as other:
        other.call("Q2").succeed("A2")
    with pytest.raises(errors.TurnLost):
        elsewhere(call.id).renew()
    with pytest.raises(errors.TurnLost):
        held.current.succeed("late")
    assert said(store.context(node_id=call.id)) == ["Q", "late"]
    assert store.conversation(conversation_id).cursor == other.last_id


@pytest.mark.rule("C5")
def test_a_turn_that_holds_nothing_is_gone_on_with_as_one(store, elsewhere):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    call = store.turn(conversation_id, exclusive=False).call("Q2")
    assert elsewhere(call.id).renew() is None
    elsewhere(call.id).current.succeed("A2")
    elsewhere(call.id).end()
    assert store.conversation(conversation_id).cursor == call.id


@pytest.mark.rule("X3")
def test_a_turn_of_what_was_cleared_is_gone(store, elsewhere):
    conversation_id = store.create_conversation()
    call = store.turn(conversation_id).call("Q")
    turn = elsewhere(call.id)
    store.clear(conversation_id, force=True)
    with pytest.raises(errors.ConversationGone):
        turn.current.succeed("A")
    with pytest.raises(errors.NodeNotFound):
        elsewhere(call.id)


def test_only_calls_of_turns_are_gone_on_with(store, elsewhere):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    compaction = store.compact(conversation_id, "In short.")
    for id in (compaction, "nowhere"):
        with pytest.raises(errors.NodeNotFound, match=id):
            elsewhere(id)
