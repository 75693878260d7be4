"""Turns: a line of calls that holds the conversation by a lease (rules S4, C5 to C7)."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from conversing import answered, ask, said, talk, tool_call, tool_result

from graphstore import errors

GONE = 0.001  # a lease that has run out by the time anyone looks


@pytest.mark.rule("S4")
def test_a_turns_calls_form_a_line_and_the_cursor_moves_once_at_its_end(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        for number in range(3):
            turn.call([tool_result(f"c{number - 1}")] if number else "Q2").succeed([tool_call(f"c{number}")])
            assert store.conversation(conversation_id).cursor == nodes[0]
        turn.call([tool_result("c2")]).succeed("A2")
    path = store.path(conversation_id)
    assert [node.round for node in path] == [0, 0, 1, 2, 3]
    assert [node.parent_id for node in path] == [None, *[node.id for node in path[:-1]]]
    assert {node.turn_id for node in path[1:]} == {turn.id}
    assert [(m.from_id, m.to_id) for m in store.moves(conversation_id)][-1] == (nodes[0], turn.last_id)
    assert len(store.moves(conversation_id)) == 2


@pytest.mark.rule("S4")
def test_a_turn_has_one_pending_call_at_a_time(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        call = turn.call("Q")
        with pytest.raises(errors.CallInProgress, match=call.id):
            turn.call("another")
        call.succeed("A")
    assert len(store.tree(conversation_id)) == 1


@pytest.mark.rule("S4")
def test_the_last_answer_may_end_the_turn_in_its_own_transaction(store):
    conversation_id = store.create_conversation()
    turn = store.turn(conversation_id)
    turn.call("Q").succeed("A", end_turn=True)
    conversation = store.conversation(conversation_id)
    assert (conversation.cursor, conversation.turn) == (turn.last_id, None)
    turn.end()
    turn.end()
    assert len(store.moves(conversation_id)) == 1
    with pytest.raises(errors.InvalidInput, match="ended"):
        turn.call("more")


@pytest.mark.rule("S4", "C5")
def test_a_turn_without_a_call_takes_and_moves_nothing(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        assert store.conversation(conversation_id).turn is None
        with pytest.raises(errors.InvalidInput, match="no call"):
            turn.current  # noqa: B018 - asking is the test
    assert store.moves(conversation_id) == []


@pytest.mark.rule("C5")
def test_while_a_turn_runs_everything_that_moves_the_cursor_is_refused_and_told_who_and_until_when(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    other = answered(store.regenerate(conversation_id), "A1b")
    with store.turn(conversation_id, owner="worker 7", lease_seconds=60) as turn:
        call = turn.call("Q2")
        for refused in (
            lambda: store.edit(conversation_id, nodes[0], "Q1c"),
            lambda: store.regenerate(conversation_id),
            lambda: store.switch(conversation_id, nodes[0]),
            lambda: store.correct(conversation_id, "A1c"),
            lambda: store.compact(conversation_id, "Summary"),
            lambda: store.turn(conversation_id).call("Q2"),
        ):
            with pytest.raises(errors.TurnInProgress, match="worker 7") as why:
                refused()
            assert (why.value.owner, why.value.turn_id) == ("worker 7", turn.id)
            left = why.value.expires_at - datetime.now(UTC)
            assert timedelta(seconds=20) < left < timedelta(seconds=70)
        running = store.conversation(conversation_id).turn
        assert (running.turn_id, running.owner, running.node_id) == (turn.id, "worker 7", call.id)
        assert store.conversation(conversation_id).cursor == other
        assert len(store.tree(conversation_id)) == 3
        call.succeed("A2")
    assert store.conversation(conversation_id).turn is None
    assert store.conversation(conversation_id).cursor == call.id


@pytest.mark.rule("C5")
def test_reading_and_forking_go_on_while_a_turn_runs(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        call = turn.call("Q2")
        assert said(store.context(conversation_id)) == ["Q1", "A1"]
        assert store.conversation(store.fork(nodes[0])).cursor == nodes[0]
        call.succeed("A2")


@pytest.mark.rule("C5", "B1", "B2")
def test_edit_and_regenerate_move_the_cursor_take_the_turn_and_write_the_call_at_once(store, queries_of):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    for begin in (lambda: store.edit(conversation_id, nodes[1], "Q2b"), lambda: store.regenerate(conversation_id)):
        with queries_of(store) as names:
            turn = begin()
        assert [name for name in names if name.startswith("write")] == ["write/append_call"]
        conversation = store.conversation(conversation_id)
        assert (conversation.cursor, conversation.turn.turn_id) == (nodes[0], turn.id)
        assert store.node(turn.current.id).status == "pending"
        answered(turn, "A2b")


@pytest.mark.rule("C6")
def test_a_turn_whose_process_died_is_settled_by_whoever_comes_next_keeping_its_results(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    dead = store.turn(conversation_id, lease_seconds=GONE)
    dead.call("Q2").succeed([tool_call("c1")])
    lost = dead.call([tool_result("c1", "paid for")])
    assert store.conversation(conversation_id).turn is None
    with store.turn(conversation_id) as turn:
        call = turn.call("Q3")
        assert "paid for" in call.context.body.decode()
        call.succeed("A3")
    node = store.node(lost.id)
    assert (node.status, node.failure.kind) == ("failed", "lost")
    assert store.node(turn.last_id).parent_id == lost.id
    assert [(m.reason, m.to_id) for m in store.moves(conversation_id)][1:] == [
        ("failure", lost.id),
        ("turn", turn.last_id),
    ]


@pytest.mark.rule("C6")
@pytest.mark.parametrize("verb", ["switch", "edit", "regenerate", "correct"])
def test_a_dead_turn_stands_in_nobodys_way(store, verb):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    lost = store.turn(conversation_id, lease_seconds=GONE).call("Q3")
    match verb:
        case "switch":
            store.switch(conversation_id, nodes[1])
        case "edit":
            answered(store.edit(conversation_id, nodes[1], "Q2b"), "A2b")
        case "regenerate":
            answered(store.regenerate(conversation_id, nodes[1]), "A2b")
        case "correct":
            store.correct(conversation_id, "A2b", node_id=nodes[1])
    assert store.node(lost.id).failure.kind == "lost"
    assert lost.id in [move.to_id for move in store.moves(conversation_id)]
    assert store.conversation(conversation_id).turn is None


@pytest.mark.rule("C6", "K4")
def test_a_compaction_made_before_a_dead_turn_was_settled_is_refused_since_it_lacks_that_turn(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    lost = store.turn(conversation_id, lease_seconds=GONE).call("Q2")
    with pytest.raises(errors.CursorMoved) as refused:
        store.compact(conversation_id, "Summary", expected=nodes[0])
    assert refused.value.cursor == lost.id


@pytest.mark.rule("C6", "S2")
def test_the_late_completion_of_a_lost_call_is_stored_but_moves_nothing_and_says_so(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    dead = store.turn(conversation_id, lease_seconds=GONE)
    late = dead.call("Q2")
    end = ask(store, conversation_id, "Q3", "A3")
    with pytest.raises(errors.TurnLost, match=dead.id):
        late.succeed("A2, late")
    node = store.node(late.id)
    assert (node.status, node.failure, node.returned[0]["content"]) == ("succeeded", None, "A2, late")
    assert store.conversation(conversation_id).cursor == end
    with pytest.raises(errors.AlreadySettled):
        late.succeed("something else")
    with pytest.raises((errors.TurnLost, errors.InvalidInput)):
        dead.call("more")


@pytest.mark.rule("C6")
def test_a_turn_that_was_taken_over_can_neither_go_on_nor_end(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    dead = store.turn(conversation_id, lease_seconds=GONE)
    dead.call("Q2").succeed([tool_call("c1")])
    end = ask(store, conversation_id, "Q3", "A3")
    with pytest.raises(errors.TurnLost):
        dead.call([tool_result("c1")])
    with pytest.raises(errors.TurnLost):
        dead.end()
    assert store.conversation(conversation_id).cursor == end


@pytest.mark.rule("C6")
def test_a_lease_is_renewed_by_the_turns_own_calls_also_after_it_ran_out_unnoticed(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id, lease_seconds=30) as turn:
        call = turn.call("Q")
        before = store.conversation(conversation_id).turn.expires_at
        time.sleep(0.05)
        call.succeed([tool_call("c1")])
        after = store.conversation(conversation_id).turn.expires_at
        assert after > before
        turn.call([tool_result("c1")]).succeed("A")
    unnoticed = store.turn(conversation_id, lease_seconds=GONE)
    unnoticed.call("Q2").succeed("A2")
    unnoticed.end()
    assert store.conversation(conversation_id).cursor == unnoticed.last_id


@pytest.mark.rule("C6")
@pytest.mark.parametrize("seconds", [0, -1])
def test_a_lease_must_last(store, seconds):
    conversation_id = store.create_conversation()
    with pytest.raises(errors.InvalidInput, match="positive"):
        store.turn(conversation_id, lease_seconds=seconds)


@pytest.mark.rule("C7")
def test_turns_that_take_no_lease_run_side_by_side_and_beside_an_exclusive_one(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    holder = store.turn(conversation_id)
    holder.call("held")
    free = [store.turn(conversation_id, exclusive=False) for _ in range(2)]
    for turn in free:
        turn.call("free").succeed("A")
    assert store.conversation(conversation_id).turn.turn_id == holder.id
    holder.current.succeed("A")
    holder.end()
    for turn in free:
        with pytest.raises(errors.CursorMoved):
            turn.end()
    assert store.conversation(conversation_id).cursor == holder.last_id
    assert len(store.unseen_branches(conversation_id)) == 2


@pytest.mark.rule("C5", "X3")
def test_a_turn_learns_that_its_conversation_was_cleared_meanwhile(store, cypher):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    turn = store.turn(conversation_id)
    call = turn.call("Q2")
    cypher("MATCH (c:Conversation {workspace: $workspace, id: $id}) SET c.epoch = c.epoch + 1", id=conversation_id)
    with pytest.raises(errors.ConversationGone, match=conversation_id):
        call.succeed("A2")
