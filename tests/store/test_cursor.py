"""One cursor, moved by compare-and-set, every move on record (rules C1, C2, C4)."""

from __future__ import annotations

import pytest
from conversing import answered, ask, said, talk

from graphstore import errors


@pytest.mark.rule("C1")
def test_an_empty_conversation_has_a_cursor_that_names_no_node(store):
    conversation_id = store.create_conversation()
    conversation = store.conversation(conversation_id)
    assert (conversation.cursor, conversation.version, store.moves(conversation_id)) == (None, 0, [])
    assert (store.path(conversation_id), store.markers(conversation_id)) == ([], [])


@pytest.mark.rule("C1")
def test_a_conversation_never_has_two_cursors(store, cypher):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    answered(store.edit(conversation_id, nodes[0], "Q1b"), "A1b")
    store.switch(conversation_id, nodes[1])
    rows = cypher(
        "MATCH (:Conversation {workspace: $workspace, id: $id})-[:CURSOR]->(n) RETURN n.id", id=conversation_id
    )
    assert rows == [{"n.id": nodes[1]}]


@pytest.mark.rule("C2", "C4")
def test_a_move_whose_expectation_is_wrong_is_refused_with_the_actual_cursor_and_recorded(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    other = answered(store.regenerate(conversation_id), "A1b")
    version = store.conversation(conversation_id).version
    with pytest.raises(errors.CursorMoved, match=other) as refused:
        store.switch(conversation_id, nodes[0], expected=nodes[0])
    assert (refused.value.cursor, refused.value.expected) == (other, nodes[0])
    assert store.conversation(conversation_id).cursor == other
    assert store.conversation(conversation_id).version == version
    last = store.moves(conversation_id)[-1]
    assert (last.accepted, last.reason, last.to_id, last.from_id) == (False, "switch", nodes[0], other)
    with pytest.raises(errors.CursorMoved):
        store.switch(conversation_id, nodes[0], expected=None)
    assert store.switch(conversation_id, nodes[0], expected=other) == nodes[0]


@pytest.mark.rule("C2", "K4")
def test_a_compaction_of_a_path_that_has_moved_on_is_refused(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    with pytest.raises(errors.CursorMoved) as refused:
        store.compact(conversation_id, "Summary of the first", expected=nodes[0])
    assert refused.value.cursor == nodes[1]
    assert store.conversation(conversation_id).cursor == nodes[1]
    assert len(store.tree(conversation_id)) == 2


@pytest.mark.rule("C2", "C3")
def test_of_two_turns_from_the_same_node_the_first_moves_the_cursor_and_the_second_is_kept(store):
    conversation_id, _nodes = talk(store, ("Q1", "A1"))
    one, two = (store.turn(conversation_id, exclusive=False) for _ in range(2))
    one.call("from one").succeed("to one")
    two.call("from two").succeed("to two")
    one.end()
    with pytest.raises(errors.CursorMoved, match=two.last_id) as refused:
        two.end()
    assert (refused.value.cursor, refused.value.kept) == (one.last_id, two.last_id)
    assert store.conversation(conversation_id).cursor == one.last_id
    assert said(store.context(node_id=two.last_id)) == ["Q1", "A1", "from two", "to two"]
    assert [branch.node_id for branch in store.unseen_branches(conversation_id)] == [two.last_id]
    assert [(m.position, m.count) for m in store.markers(conversation_id)] == [(1, 1), (1, 2)]


@pytest.mark.rule("C3")
def test_an_unseen_branch_is_listed_until_someone_switches_to_it_or_dismisses_it(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    turns = [store.turn(conversation_id, exclusive=False) for _ in range(3)]
    for turn in turns:
        turn.call("Q").succeed("A")
    turns[0].end()
    for turn in turns[1:]:
        with pytest.raises(errors.CursorMoved):
            turn.end()
    first, second = store.unseen_branches(conversation_id)
    assert (first.turn_id, second.turn_id) == (turns[1].id, turns[2].id)
    for _ in range(2):
        store.dismiss(conversation_id, first.node_id)
    assert [branch.node_id for branch in store.unseen_branches(conversation_id)] == [second.node_id]
    assert store.switch(conversation_id, second.node_id) == second.node_id
    assert store.unseen_branches(conversation_id) == []
    assert len(store.tree(conversation_id)) == 4


@pytest.mark.rule("C4")
def test_every_move_is_recorded_in_order_with_its_reason_and_actor(store, connected):
    by_ana = connected.in_workspace(store.workspace, actor="ana")
    conversation_id = by_ana.create_conversation()
    first = ask(by_ana, conversation_id, "Q1", "A1")
    edited = answered(by_ana.edit(conversation_id, first, "Q1b"), "A1b")
    again = answered(by_ana.regenerate(conversation_id), "A1c")
    corrected = by_ana.correct(conversation_id, "A1d")
    by_ana.switch(conversation_id, edited)
    folded = by_ana.compact(conversation_id, "Summary")
    with store.turn(conversation_id) as turn:
        turn.call("Q2").fail("timeout")
    moves = store.moves(conversation_id)
    assert [(m.reason, m.from_id, m.to_id) for m in moves] == [
        ("turn", None, first),
        ("edit", first, None),
        ("turn", None, edited),
        ("regenerate", edited, None),
        ("turn", None, again),
        ("correct", again, corrected),
        ("switch", corrected, edited),
        ("compaction", edited, folded),
        ("failure", folded, turn.last_id),
    ]
    assert [move.seq for move in moves] == list(range(1, 10))
    assert [move.at for move in moves] == sorted(move.at for move in moves)
    assert {move.actor for move in moves[:-1]} == {"ana"}
    assert moves[-1].actor is None
    assert all(move.accepted for move in moves)
    assert store.conversation(conversation_id).version == 9


@pytest.mark.rule("C2")
def test_switching_to_where_the_cursor_is_already_moves_nothing(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    assert store.switch(conversation_id, nodes[0]) == nodes[0]
    assert len(store.moves(conversation_id)) == 1
    assert store.conversation(conversation_id).version == 1
