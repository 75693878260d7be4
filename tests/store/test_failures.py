"""Calls that fail, are stopped or are lost, and what the next context keeps of them (rules F1 to F4)."""

from __future__ import annotations

import logging

import pytest
from conversing import answered, ask, said, talk, tool_call, tool_result, user

from graphstore import errors

GONE = 0.001


@pytest.mark.rule("F1")
def test_a_failed_call_ends_its_turn_and_the_cursor_goes_to_it_keeping_the_results_paid_for(store, caplog):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        turn.call("Q2").succeed([tool_call("c1")])
        failed = turn.call([tool_result("c1", "paid for")])
        failed.fail("overloaded", "try later")
        with pytest.raises(errors.InvalidInput, match="ended"):
            turn.call("more")
    conversation = store.conversation(conversation_id)
    assert (conversation.cursor, conversation.turn) == (failed.id, None)
    context = store.context(conversation_id, new_items="Q3")
    assert [item["type"] for item in context.items] == [
        *("message", "message", "message", "tool_call", "tool_result", "message")
    ]
    assert (context.warnings, context.expected) == ([], [])
    assert not caplog.records


@pytest.mark.rule("F1")
def test_an_exception_within_a_turn_fails_its_pending_call_and_goes_on(store):
    conversation_id = store.create_conversation()
    turn = store.turn(conversation_id)

    def breaking_off() -> None:
        with turn:
            turn.call("Q")
            raise ZeroDivisionError("in the middle")

    with pytest.raises(ZeroDivisionError):
        breaking_off()
    node = store.node(turn.last_id)
    assert (node.status, node.failure.kind) == ("failed", "error")
    assert "ZeroDivisionError" in node.failure.message
    assert store.conversation(conversation_id).cursor == node.id


@pytest.mark.rule("F1")
def test_a_turn_left_with_a_pending_call_fails_it(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("Q")
    assert store.node(turn.last_id).failure.kind == "unfinished"
    assert store.conversation(conversation_id).cursor == turn.last_id


@pytest.mark.rule("F2")
def test_an_overflow_of_the_first_call_leaves_the_cursor_where_the_turn_began(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        turn.call("far too long").fail("context_overflow", "too long")
    conversation = store.conversation(conversation_id)
    assert (conversation.cursor, conversation.turn) == (nodes[0], None)
    assert said(store.context(conversation_id)) == ["Q1", "A1"]
    assert store.node(turn.last_id).parent_id == nodes[0]
    assert ask(store, conversation_id, "short", "A2")


@pytest.mark.rule("F2", "A4")
def test_an_overflow_of_a_later_round_puts_the_cursor_at_the_last_succeeded_one(store, caplog):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        good = turn.call("Q2")
        good.succeed([tool_call("c1")])
        turn.call([tool_result("c1", "x" * 1000)]).fail("context_overflow")
    assert store.conversation(conversation_id).cursor == good.id
    with caplog.at_level(logging.WARNING, "graphstore"):
        context = store.context(conversation_id, new_items="Q3")
    assert said(context) == ["Q1", "A1", "Q2", "Q3"]
    assert context.warnings == []
    assert len(context.expected) == 1
    assert "'c1'" in context.expected[0]
    assert not caplog.records
    # and the failed one never becomes the end by a switch to its branch
    assert store.switch(conversation_id, good.id) == good.id


@pytest.mark.rule("F3", "C6")
def test_what_a_dead_process_left_pending_reads_as_unfinished_and_is_listed_until_it_is_settled(store):
    conversation_id = store.create_conversation()
    left = store.turn(conversation_id, lease_seconds=GONE).call("Q1")
    assert [node.status for node in store.tree(conversation_id)] == ["pending"]
    assert store.context(node_id=left.id).items == [user("Q1")]
    answered_id = ask(store, conversation_id, "Q2", "A2")
    assert [node.status for node in store.tree(conversation_id)] == ["failed", "succeeded"]
    assert store.node(answered_id).parent_id == left.id


@pytest.mark.rule("F3", "C6", "A4")
def test_calls_open_when_the_process_died_are_dropped_as_expected(store, caplog):
    conversation_id = store.create_conversation()
    dead = store.turn(conversation_id, lease_seconds=GONE)
    dead.call("Q1").succeed([tool_call("c1")])
    ask(store, conversation_id, "Q2", "A2")
    context = store.context(conversation_id)
    assert said(context) == ["Q1", "Q2", "A2"]
    assert len(context.items) == 3
    assert (context.warnings, len(context.expected)) == ([], 1)
    assert not caplog.records


@pytest.mark.rule("F4", "A4")
def test_a_stopped_call_is_succeeded_and_its_open_tool_calls_are_dropped_as_expected(store, caplog):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        stopped = turn.call("Q1")
        stopped.succeed(
            [{"type": "message", "role": "assistant", "content": "Let me"}, tool_call("c1")],
            finish_reason="cancelled",
            end_turn=True,
        )
    node = store.node(stopped.id)
    assert (node.status, node.finish_reason) == ("succeeded", "cancelled")
    with caplog.at_level(logging.WARNING, "graphstore"):
        context = store.context(conversation_id, new_items="Q2")
    assert said(context) == ["Q1", "Let me", "Q2"]
    assert (context.warnings, len(context.expected)) == ([], 1)
    assert not caplog.records


@pytest.mark.rule("F1", "B1")
def test_a_failed_edit_keeps_the_old_branch_one_switch_away(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    with store.edit(conversation_id, nodes[1], "Q2b") as turn:
        turn.current.fail("timeout")
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2b"]
    assert store.switch(conversation_id, store.markers(conversation_id)[1].left) == nodes[1]
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2", "A2"]
    answered(store.regenerate(conversation_id, turn.last_id), "A2b")
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2b", "A2b"]


@pytest.mark.rule("F1")
def test_a_failure_needs_a_kind(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        with pytest.raises(errors.InvalidInput, match="kind"):
            turn.call("Q").fail("")
        turn.current.succeed("A")
