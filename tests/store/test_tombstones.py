"""A branch is hidden, shown again, or removed for good (rule S6)."""

from __future__ import annotations

import pytest
from conversing import answered, ask, said, talk

from graphstore import errors

pytestmark = pytest.mark.rule("S6")


@pytest.fixture
def branched(store):
    """Two turns, the second regenerated: the conversation, its first node, the abandoned one, the accepted one."""
    conversation_id, (first, abandoned) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    accepted = answered(store.regenerate(conversation_id), "A2b")
    return conversation_id, first, abandoned, accepted


def places(store, conversation_id):
    return [(marker.position, marker.count) for marker in store.markers(conversation_id)]


def test_a_hidden_branch_leaves_markers_trees_and_counts(store, branched):
    conversation_id, first, abandoned, accepted = branched
    assert places(store, conversation_id) == [(1, 1), (2, 2)]
    assert store.tombstone(abandoned) == 1
    assert places(store, conversation_id) == [(1, 1), (1, 1)]
    assert [node.id for node in store.tree(conversation_id)] == [first, accepted]
    (summary,) = store.conversations()
    assert (summary.nodes, summary.branches) == (2, 1)
    assert [(one.node_id, one.nodes) for one in store.tombstones(conversation_id)] == [(abandoned, 1)]


def test_a_restored_branch_is_as_it_was(store, branched):
    conversation_id, _, abandoned, _ = branched
    before = store.tree(conversation_id)
    store.tombstone(abandoned)
    assert store.restore(abandoned) == 1
    assert store.restore(abandoned) == 0
    assert store.tree(conversation_id) == before
    assert places(store, conversation_id) == [(1, 1), (2, 2)]
    assert store.tombstones(conversation_id) == []
    assert store.switch(conversation_id, abandoned) == abandoned


def test_hiding_twice_is_the_same_as_once(store, branched):
    conversation_id, _, abandoned, _ = branched
    assert (store.tombstone(abandoned), store.tombstone(abandoned)) == (1, 0)
    assert len(store.tombstones(conversation_id)) == 1


def test_all_below_is_hidden_and_can_not_be_switched_to_edited_or_forked(store, branched):
    conversation_id, _, abandoned, accepted = branched
    store.switch(conversation_id, abandoned)
    below = ask(store, conversation_id, "Q3", "A3")
    store.switch(conversation_id, accepted)
    assert store.tombstone(abandoned) == 2
    with pytest.raises(errors.NodeNotFound):
        store.switch(conversation_id, below)
    with pytest.raises(errors.NodeNotFound):
        store.edit(conversation_id, below, "Q3b")
    with pytest.raises(errors.NodeNotFound):
        store.fork(below)
    assert said(store.context(node_id=below)) == ["Q1", "A1", "Q2", "A2", "Q3", "A3"]


def test_a_branch_with_a_cursor_on_it_is_refused_by_name(store, branched):
    conversation_id, first, abandoned, accepted = branched
    with pytest.raises(errors.BranchInUse) as refused:
        store.tombstone(accepted)
    assert refused.value.cursors == (conversation_id,)
    fork = store.fork(abandoned)
    with pytest.raises(errors.BranchInUse) as refused:
        store.tombstone(abandoned)
    assert refused.value.cursors == (fork,)
    with pytest.raises(errors.BranchInUse):
        store.tombstone(first)
    assert store.tombstones(conversation_id) == []


def test_a_branch_with_a_running_turn_on_it_is_refused(store, branched):
    conversation_id, _, abandoned, accepted = branched
    store.switch(conversation_id, abandoned)
    with store.turn(conversation_id) as turn:
        call = turn.call("Q3")
        with pytest.raises(errors.BranchInUse) as refused:
            store.tombstone(abandoned)
        assert refused.value.turns == (conversation_id,)
        call.succeed("A3")
    store.switch(conversation_id, accepted)
    assert store.tombstone(abandoned) == 2


def test_a_late_turn_does_not_bring_the_cursor_to_a_hidden_branch(store):
    conversation_id, (first,) = talk(store, ("Q1", "A1"))
    turn = store.turn(conversation_id, exclusive=False)
    call = turn.call("Q2")
    assert store.tombstone(call.id) == 1
    with pytest.raises(errors.CursorMoved):
        call.succeed("A2", end_turn=True)
    assert store.conversation(conversation_id).cursor == first
    assert [item["content"] for item in store.node(call.id).returned] == ["A2"]


def test_a_turns_later_call_is_no_branch(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        one = turn.call("Q")
        one.succeed([{"type": "tool_call", "call_id": "c", "name": "f", "arguments": "{}"}])
        two = turn.call([{"type": "tool_result", "call_id": "c", "output": "1"}])
        two.succeed("A")
    with pytest.raises(errors.InvalidInput, match=one.id):
        store.tombstone(two.id)


def test_an_inner_tombstone_outlives_the_restoring_of_the_outer_and_the_other_way_round(store, branched):
    conversation_id, _, outer, accepted = branched
    store.switch(conversation_id, outer)
    inner = ask(store, conversation_id, "Q3", "A3")
    store.switch(conversation_id, accepted)
    store.tombstone(inner)
    store.tombstone(outer)
    store.restore(outer)
    assert [one.node_id for one in store.tombstones(conversation_id)] == [inner]
    store.tombstone(outer)
    store.restore(inner)
    assert [(one.node_id, one.nodes) for one in store.tombstones(conversation_id)] == [(outer, 2)]
    store.restore(outer)
    assert store.tombstones(conversation_id) == []


def test_a_purge_removes_what_was_hidden_and_nothing_else(store, branched, cypher):
    conversation_id, first, abandoned, accepted = branched
    with pytest.raises(errors.InvalidInput, match="no tombstone"):
        store.purge(abandoned)
    store.tombstone(abandoned)
    assert store.purge(abandoned).nodes == 1
    with pytest.raises(errors.NodeNotFound):
        store.node(abandoned)
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2", "A2b"]
    stored = cypher("MATCH (n:Node {workspace: $workspace}) RETURN n.id AS id ORDER BY n.created_at")
    assert [row["id"] for row in stored] == [first, accepted]
    moved = [(move.reason, move.from_id, move.to_id) for move in store.moves(conversation_id)]
    assert moved[1] == ("turn", first, abandoned)


def test_a_branch_on_which_a_fork_began_is_not_purged(store, branched):
    _, first, abandoned, _ = branched
    fork = store.fork(abandoned)
    store.switch(fork, first)
    answered(store.edit(fork, abandoned, "Q2 of the fork"), "A2 of the fork")
    store.tombstone(abandoned)
    with pytest.raises(errors.NodesShared) as refused:
        store.purge(abandoned)
    assert refused.value.needed_by == (fork,)
    assert store.restore(abandoned) == 1


def test_a_held_context_does_not_outlive_a_purge(store, branched, new_process_store):
    conversation_id, _, abandoned, _ = branched
    other = new_process_store()
    assert said(other.context(node_id=abandoned)) == ["Q1", "A1", "Q2", "A2"]
    store.tombstone(abandoned)
    store.purge(abandoned)
    for reader in (other, store):
        with pytest.raises(errors.NodeNotFound):
            reader.context(node_id=abandoned)
    assert said(other.context(conversation_id)) == ["Q1", "A1", "Q2", "A2b"]


def test_a_workspace_can_not_hide_anothers_branch(store, other_store, branched):
    *_, abandoned, _ = branched
    with pytest.raises(errors.NodeNotFound):
        other_store.tombstone(abandoned)
    with pytest.raises(errors.NodeNotFound):
        other_store.restore(abandoned)
