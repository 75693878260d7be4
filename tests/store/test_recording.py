"""Calls stored whole after they were made; who comes too late is told and kept (rules S2, S5, C2, C3)."""

from __future__ import annotations

import time

import pytest
from conversing import said, talk, tool_call, tool_result

from graphstore import errors


@pytest.mark.rule("S2", "C1", "C4")
def test_a_recorded_call_is_a_settled_node_and_the_cursor(store):
    conversation_id = store.create_conversation()
    recorder = store.recorder(conversation_id)
    first = recorder.record(
        "Q1", "A1", usage={"input_tokens": 3, "output_tokens": 2}, system="Be brief.", model="m", finish_reason="stop"
    )
    second = recorder.record("Q2", "A2")
    node = store.node(first)
    assert (node.status, node.round, node.turn_id, node.model, node.finish_reason) == (
        "succeeded", 0, first, "m", "stop",
    )  # fmt: skip
    assert (node.usage.input_tokens, node.usage.output_tokens) == (3, 2)
    assert (store.conversation(conversation_id).cursor, recorder.last_id) == (second, second)
    assert [(move.from_id, move.to_id, move.reason) for move in store.moves(conversation_id)] == [
        (None, first, "turn"),
        (first, second, "turn"),
    ]
    context = store.context(conversation_id)
    assert (said(context), context.settings.system) == (["Q1", "A1", "Q2", "A2"], "Be brief.")
    assert store.saw_by_model(second).verdict == "same"


@pytest.mark.rule("A7")
def test_what_a_recorder_holds_is_what_a_new_process_reads(store, new_process_store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    recorder = store.recorder(conversation_id)
    recorder.record("Q2", [tool_call("c1")], system="Search.")
    recorder.record([tool_result("c1")], "A2", same_turn=True)
    held, read = store.context(conversation_id), new_process_store().context(conversation_id)
    assert (held.body, held.hash, held.nodes, held.settings) == (read.body, read.hash, read.nodes, read.settings)
    assert (held.held, read.held) == (3, 0)


@pytest.mark.rule("S4", "B4")
def test_further_rounds_are_of_the_turn_they_go_on_from_and_only_first_ones_are_siblings(store):
    conversation_id, (root,) = talk(store, ("Q1", "A1"))
    recorder = store.recorder(conversation_id)
    call = recorder.record("Q2", [tool_call("c1")])
    last = recorder.record([tool_result("c1")], "A2", same_turn=True)
    assert [(store.node(node).turn_id, store.node(node).round) for node in (call, last)] == [(call, 0), (call, 1)]
    again = recorder.record("Q2", [tool_call("c2")], after=root, reason="regenerate")
    recorder.record([tool_result("c2")], "A2b", same_turn=True)
    assert [(one.position, one.count) for one in store.markers(conversation_id)] == [(1, 1), (2, 2)]
    assert store.node(again).turn_id == again
    assert [move.reason for move in store.moves(conversation_id)][-2:] == ["regenerate", "turn"]


@pytest.mark.rule("S4")
def test_the_nodes_of_a_turn_stay_a_line_when_a_round_is_recorded_beside_another(store):
    conversation_id = store.create_conversation()
    recorder = store.recorder(conversation_id)
    first = recorder.record("Q1", [tool_call("c1")])
    recorder.record([tool_result("c1")], "A1", same_turn=True)
    store.switch(conversation_id, first)
    recorder.look()
    beside = recorder.record([tool_result("c1")], "A1b", after=first, same_turn=True)
    assert (store.node(beside).turn_id, store.node(beside).round) == (beside, 0)


@pytest.mark.rule("B1", "B3")
def test_a_call_may_follow_any_node_or_none(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    recorder = store.recorder(conversation_id)
    recorder.record("Q2b", "A2b", after=nodes[0], reason="edit")
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2b", "A2b"]
    recorder.record("Q1b", "A1b", after=None, reason="edit")
    assert said(store.context(conversation_id)) == ["Q1b", "A1b"]
    assert [(one.position, one.count) for one in store.markers(conversation_id)] == [(2, 2)]
    assert said(store.context(node_id=nodes[1])) == ["Q1", "A1", "Q2", "A2"]


@pytest.mark.rule("C2", "C3", "C4")
def test_a_call_that_comes_too_late_is_told_and_kept_and_its_recorder_is_over_until_it_looks_again(store):
    conversation_id, (root,) = talk(store, ("Q1", "A1"))
    early, late = store.recorder(conversation_id), store.recorder(conversation_id)
    early.look(), late.look()
    won = early.record("from one", "to one")
    version = store.conversation(conversation_id).version
    with pytest.raises(errors.CursorMoved) as refused:
        late.record("from two", "to two", id="late")
    assert (refused.value.expected, refused.value.cursor, refused.value.kept) == (root, won, "late")
    assert [branch.node_id for branch in store.unseen_branches(conversation_id)] == ["late"]
    assert said(store.context(node_id="late")) == ["Q1", "A1", "from two", "to two"]
    assert (store.conversation(conversation_id).cursor, store.conversation(conversation_id).version) == (won, version)
    last = store.moves(conversation_id)[-1]
    assert (last.accepted, last.from_id, last.to_id) == (False, won, "late")
    with pytest.raises(errors.InvalidInput, match="lost its place"):
        late.record("more", "of it")
    assert late.look() == won
    late.record("from two again", "to two again")
    assert said(store.context(conversation_id))[2:] == ["from one", "to one", "from two again", "to two again"]


@pytest.mark.rule("S5")
def test_the_same_call_again_changes_nothing_and_reports_the_same_and_another_under_its_id_is_refused(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))

    def at_the_start():
        recorder = store.recorder(conversation_id)
        recorder.look()
        return recorder

    recorders = [at_the_start() for _ in range(6)]
    recorders[0].record("Q2", "A2", id="won")
    recorders[1].record("Q2", "A2", id="won")
    for recorder in recorders[2:4]:
        with pytest.raises(errors.CursorMoved) as refused:
            recorder.record("Q2", "A2", id="lost")
        assert (refused.value.cursor, refused.value.kept) == ("won", "lost")
    with pytest.raises(errors.IdConflict):
        recorders[4].record("Q2", "another", id="lost")
    with pytest.raises(errors.IdConflict):
        recorders[5].record("Q2", "another", id="won")
    assert [(move.to_id, move.accepted) for move in store.moves(conversation_id)][1:] == [
        ("won", True),
        ("lost", False),
    ]
    assert len(store.tree(conversation_id)) == 3


@pytest.mark.rule("C5")
def test_while_an_exclusive_turn_runs_nothing_is_recorded_and_the_same_call_can_be_repeated_after_it(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    recorder = store.recorder(conversation_id)
    with store.turn(conversation_id, owner="ann") as turn:
        call = turn.call("Q2")
        with pytest.raises(errors.TurnInProgress, match="ann"):
            recorder.record("Q2b", "A2b")
        call.succeed("A2")
    with pytest.raises(errors.CursorMoved) as refused:
        recorder.record("Q2b", "A2b")
    assert said(store.context(node_id=refused.value.kept)) == ["Q1", "A1", "Q2b", "A2b"]


@pytest.mark.rule("X3")
def test_a_recorder_that_began_before_a_clear_brings_nothing_back(store):
    conversation_id = store.create_conversation()
    recorder = store.recorder(conversation_id)
    recorder.look()
    store.clear(conversation_id)
    with pytest.raises(errors.ConversationGone):
        recorder.record("Q1", "A1")
    assert store.tree(conversation_id) == []


@pytest.mark.rule("S7")
def test_a_heavy_result_of_five_recorded_regenerations_is_stored_once(store, cypher):
    conversation_id = store.create_conversation()
    recorder = store.recorder(conversation_id)
    big = "found " * 2000
    for attempt in range(5):
        recorder.record("Q", [tool_call("c")], after=None, reason="regenerate" if attempt else "turn")
        recorder.record([tool_result("c", big)], f"A{attempt}", same_turn=True)
    assert store.context(conversation_id).items[2]["output"] == big
    assert cypher("MATCH (b:Blob {workspace: $workspace}) RETURN count(b) AS blobs") == [{"blobs": 1}]


@pytest.mark.rule("S2")
@pytest.mark.parametrize(("options", "said_of_it"), [({"reason": "clear"}, "edit"), ({"newest_turns": 3}, "limited")])
def test_what_can_not_be_said_of_a_recorded_call_is_refused_before_anything_is_written(store, options, said_of_it):
    conversation_id = store.create_conversation()
    with pytest.raises(errors.InvalidInput, match=said_of_it):
        store.recorder(conversation_id).record("Q", "A", **options)
    assert store.tree(conversation_id) == []
    with pytest.raises(errors.ConversationNotFound):
        store.recorder("nobody").record("Q", "A")


@pytest.mark.rule("C6")
def test_a_turn_whose_process_died_is_settled_first_and_the_call_is_kept_beside_it(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    recorder = store.recorder(conversation_id)
    recorder.look()
    dead = store.turn(conversation_id, lease_seconds=0.001)
    dead.call("Q2")
    time.sleep(0.05)
    with pytest.raises(errors.CursorMoved) as refused:
        recorder.record("Q2b", "A2b")
    assert refused.value.cursor == dead.last_id
    assert [branch.node_id for branch in store.unseen_branches(conversation_id)] == [refused.value.kept]
