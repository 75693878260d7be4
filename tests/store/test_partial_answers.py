"""What a streaming call has received so far is kept, apart from its answer (rule S9)."""

from __future__ import annotations

import pytest
from conversing import ask, said, talk

from graphstore import errors

pytestmark = pytest.mark.rule("S9")


def words(items):
    return [item["content"] for item in items]


def test_it_is_overwritten_as_it_grows_never_assembled_and_gone_when_the_answer_is_there(store, new_process_store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        call = turn.call("Q2")
        for text in ("It", "It was", "It was \ud83d"):
            call.save_partial(text)
            for reader in (store, new_process_store()):
                node = reader.node(call.id)
                assert (words(node.partial), node.returned, node.status) == ([text], [], "pending")
                assert said(reader.context(node_id=call.id)) == ["Q1", "A1", "Q2"]
        call.succeed("It was 42.")
    node = store.node(call.id)
    assert (node.partial, words(node.returned)) == ([], ["It was 42."])


def test_a_crash_keeps_it_and_the_next_question_does_not_see_it(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    turn = store.turn(conversation_id, lease_seconds=0.001)
    call = turn.call("Q2")
    call.save_partial("half an ans")
    del turn
    ask(store, conversation_id, "Q3", "A3")
    lost = store.node(call.id)
    assert (lost.failure.kind, words(lost.partial), lost.returned) == ("lost", ["half an ans"], [])
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2", "Q3", "A3"]


def test_a_failure_keeps_it(store):
    conversation_id = store.create_conversation()
    call = store.turn(conversation_id).call("Q")
    call.save_partial("half")
    call.fail("timeout")
    assert words(store.node(call.id).partial) == ["half"]


def test_a_call_that_is_over_takes_none(store):
    conversation_id = store.create_conversation()
    call = store.turn(conversation_id).call("Q")
    call.succeed("A", end_turn=True)
    with pytest.raises(errors.AlreadySettled):
        call.save_partial("late")
    assert store.node(call.id).partial == []


def test_it_renews_the_turn_and_learns_when_the_turn_was_lost(store):
    conversation_id = store.create_conversation()
    turn = store.turn(conversation_id, lease_seconds=30)
    call = turn.call("Q")
    before = store.conversation(conversation_id).turn.expires_at
    call.save_partial("half")
    assert store.conversation(conversation_id).turn.expires_at > before
    store.clear(conversation_id, force=True)
    with pytest.raises((errors.ConversationGone, errors.NotFound)):
        call.save_partial("more")
