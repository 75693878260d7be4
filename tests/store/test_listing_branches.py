"""Branches and subtrees, listed a page at a time."""

from __future__ import annotations

import pytest
from conversing import answered, ask, talk

from graphstore import Branch, GraphStore
from graphstore.errors import ConversationNotFound, InvalidInput, NodeNotFound

pytestmark = pytest.mark.rule("W3")


def by_end(store: GraphStore, conversation_id: str) -> dict[str, Branch]:
    page, after = store.branches(conversation_id)
    assert after is None
    return {one.node_id: one for one in page}


def test_a_branch_says_where_it_leaves_the_accepted_path_and_how_long_it_is(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"), ("e", "f"))
    edited = answered(store.edit(conversation_id, nodes[1], "other"), "x")
    found = by_end(store, conversation_id)
    assert set(found) == {nodes[2], edited}
    old, new = found[nodes[2]], found[edited]
    assert (old.leaves_at, old.first_id, old.nodes, old.accepted) == (nodes[0], nodes[1], 2, False)
    assert (new.leaves_at, new.first_id, new.nodes, new.accepted) == (None, nodes[0], 2, True)
    assert old.newest_at == store.node(nodes[2]).finished_at
    assert store.branches(conversation_id)[0][0] == new, "newest first"


def test_a_branch_from_another_first_question_leaves_nowhere(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"))
    answered(store.edit(conversation_id, nodes[0], "A"), "x")
    old = by_end(store, conversation_id)[nodes[1]]
    assert (old.leaves_at, old.first_id, old.nodes) == (None, nodes[0], 2)


def test_what_follows_the_cursor_is_a_branch_that_leaves_there(store: GraphStore) -> None:
    conversation_id, (first,) = talk(store, ("a", "b"))
    with store.turn(conversation_id) as turn:
        overflowed = turn.call("too long")
        overflowed.fail("context_overflow")
    found = by_end(store, conversation_id)
    assert (found[first].accepted, found[first].nodes) == (True, 1)
    assert (found[overflowed.id].leaves_at, found[overflowed.id].status) == (first, "failed")


def test_pages_give_every_branch_once_in_a_stable_order(store: GraphStore) -> None:
    conversation_id, (first,) = talk(store, ("a", "b"))
    ends = [first] + [answered(store.regenerate(conversation_id), f"b{i}") for i in range(6)]
    listed: list[str] = []
    after: str | None = None
    for expected in (3, 3, 1):
        page, after = store.branches(conversation_id, limit=3, after=after)
        listed += [one.node_id for one in page]
        assert len(page) == expected
        answered(store.regenerate(conversation_id), "meanwhile")
    assert after is None
    assert listed == ends[::-1]


def test_a_fork_lists_its_own_branches_and_where_it_began(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"))
    fork = store.fork(nodes[0])
    assert [(one.node_id, one.accepted, one.nodes) for one in by_end(store, fork).values()] == [(nodes[0], True, 1)]
    own = ask(store, fork, "e", "f")
    assert [(one.node_id, one.nodes) for one in by_end(store, fork).values()] == [(own, 2)]
    assert set(by_end(store, conversation_id)) == {nodes[1]}
    store.regenerate(fork).current.fail("error")
    assert {one.leaves_at for one in by_end(store, fork).values()} == {None, nodes[0]}


def test_a_compaction_is_no_end_of_what_it_folded(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"))
    summary = store.compact(conversation_id, "b, d")
    found = by_end(store, conversation_id)
    assert set(found) == {summary}
    assert (found[summary].nodes, found[summary].first_id) == (3, nodes[0])


def test_hidden_branches_and_side_jobs_are_left_out(store: GraphStore) -> None:
    conversation_id, (old,) = talk(store, ("a", "b"))
    new = answered(store.regenerate(conversation_id), "c")
    with store.conversion(conversation_id) as job:
        job.call("Make a playbook").succeed("1. …")
    store.tombstone(old)
    assert set(by_end(store, conversation_id)) == {new}
    store.restore(old)
    assert set(by_end(store, conversation_id)) == {new, old}


@pytest.mark.rule("W2", "W6")
def test_a_branch_is_listed_with_its_labels_and_its_summary(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"), ("e", "f"))
    edited = answered(store.edit(conversation_id, nodes[1], "other"), "x")
    store.labels.add(nodes[1], "idea", branch=True)
    store.labels.add(nodes[1], "inner")
    store.labels.add(nodes[2], "end")
    store.labels.add(nodes[0], "whole", branch=True)
    store.summaries.attach(nodes[1], "Tried d and f")
    found = by_end(store, conversation_id)
    assert found[nodes[2]].labels == ("end", "idea")
    assert found[edited].labels == ("whole",)
    assert found[nodes[2]].summary == "Tried d and f"
    assert found[edited].summary is None
    store.summaries.attach(nodes[2], "Tried f")
    assert by_end(store, conversation_id)[nodes[2]].summary == "Tried f", "the nearest to the end"


@pytest.mark.rule("W6", "A1")
def test_a_summary_is_never_assembled(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"))
    store.summaries.attach(nodes[1], "SUMMARY")
    store.summaries.attach(nodes[0], "SUMMARY")
    assert b"SUMMARY" not in store.context(conversation_id).body


def test_an_empty_conversation_has_no_branches(store: GraphStore, other_store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    assert store.branches(conversation_id) == ([], None)
    for wrong in (other_store, store):
        with pytest.raises(ConversationNotFound):
            wrong.branches(conversation_id if wrong is other_store else "nowhere")
    with pytest.raises(InvalidInput):
        store.branches(conversation_id, after="nonsense")
    with pytest.raises(InvalidInput):
        store.branches(conversation_id, limit=0)
    store.delete_conversation(conversation_id)
    with pytest.raises(ConversationNotFound):
        store.branches(conversation_id)


def test_a_cleared_conversation_lists_only_what_came_after(store: GraphStore) -> None:
    conversation_id, _ = talk(store, ("a", "b"))
    store.clear(conversation_id)
    assert store.branches(conversation_id) == ([], None)
    after = ask(store, conversation_id, "c", "d")
    assert set(by_end(store, conversation_id)) == {after}


def test_a_subtree_is_given_a_page_at_a_time_parents_before_children(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"), ("e", "f"))
    edited = answered(store.edit(conversation_id, nodes[1], "other"), "x")
    fork = store.fork(nodes[1])
    theirs = ask(store, fork, "g", "h")
    listed = []
    after: str | None = None
    while True:
        page, after = store.subtree(nodes[0], limit=2, after=after)
        listed += page
        if after is None:
            break
    assert [node.id for node in listed] == [*nodes, edited, theirs]
    seen: set[str | None] = {None}
    for node in listed:
        assert node.parent_id in seen
        seen.add(node.id)
    assert [node.id for node in store.subtree(nodes[2])[0]] == [nodes[2]]
    assert [node.id for node in store.subtree(nodes[1])[0]] == [nodes[1], nodes[2], theirs]


def test_a_subtree_leaves_out_what_is_hidden_and_knows_its_workspace(
    store: GraphStore, other_store: GraphStore
) -> None:
    conversation_id, (first, old) = talk(store, ("a", "b"), ("c", "d"))
    new = answered(store.regenerate(conversation_id), "e")
    store.tombstone(old)
    assert [node.id for node in store.subtree(first)[0]] == [first, new]
    assert store.subtree(old) == ([], None)
    with pytest.raises(NodeNotFound):
        other_store.subtree(first)
    with pytest.raises(InvalidInput):
        store.subtree(first, after="nonsense")
