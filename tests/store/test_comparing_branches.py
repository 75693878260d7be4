"""Two branches beside each other."""

from __future__ import annotations

import pytest
from conversing import answered, ask, talk

from graphstore import GraphStore
from graphstore.errors import NodeNotFound, PathBroken

pytestmark = pytest.mark.rule("W1")


def kinds(comparison) -> list[str]:
    return [one.kind for one in comparison.differences]


def test_two_answers_share_the_path_before_them_and_the_question(store: GraphStore) -> None:
    conversation_id, (first, second) = talk(store, ("Hello", "Hi"), ("How much?", "Four"))
    other = answered(store.regenerate(conversation_id), "Five")
    found = store.compare(second, other)
    assert found.common == (first,)
    assert found.common_id == first
    assert [node.id for node in found.left_nodes] == [second]
    assert [node.id for node in found.right_nodes] == [other]
    question, answer = found.differences
    assert (question.kind, answer.kind) == ("equal", "replaced")
    assert question.left is not None
    assert (question.left.node_id, question.left.returned) == (second, False)
    assert answer.left is not None
    assert answer.right is not None
    assert (answer.left.item["content"], answer.right.item["content"]) == ("Four", "Five")
    assert (answer.right.node_id, answer.right.returned) == (other, True)


def test_a_branch_and_its_own_beginning_differ_by_what_was_added(store: GraphStore) -> None:
    _, nodes = talk(store, ("a", "b"), ("c", "d"), ("e", "f"))
    found = store.compare(nodes[0], nodes[2])
    assert found.common == (nodes[0],)
    assert found.left_nodes == ()
    assert kinds(found) == ["added"] * 4
    assert kinds(store.compare(nodes[2], nodes[0])) == ["removed"] * 4
    same = store.compare(nodes[2], nodes[2])
    assert same.common == tuple(nodes)
    assert same.differences == ()


def test_a_fork_is_compared_with_the_conversation_it_left(store: GraphStore) -> None:
    _, nodes = talk(store, ("a", "b"), ("c", "d"))
    fork = store.fork(nodes[0])
    there = ask(store, fork, "c", "another d")
    found = store.compare(nodes[1], there)
    assert found.common_id == nodes[0]
    assert kinds(found) == ["equal", "replaced"]


def test_branches_without_a_common_node_say_so(store: GraphStore) -> None:
    _, (here,) = talk(store, ("a", "b"))
    _, (there,) = talk(store, ("a", "c"))
    found = store.compare(here, there)
    assert found.common == ()
    assert found.common_id is None
    assert kinds(found) == ["equal", "replaced"]


def test_the_history_path_goes_through_a_compaction(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"))
    summary = store.compact(conversation_id, "In short: b, d")
    after = ask(store, conversation_id, "e", "f")
    found = store.compare(nodes[1], after)
    assert found.common == tuple(nodes)
    assert [node.id for node in found.right_nodes] == [summary, after]
    assert found.right_nodes[0].compacts_id == nodes[1]


def test_a_hidden_branch_can_be_compared_when_it_is_named(store: GraphStore) -> None:
    conversation_id, (first,) = talk(store, ("a", "b"))
    other = answered(store.regenerate(conversation_id), "c")
    store.tombstone(first)
    assert kinds(store.compare(first, other)) == ["equal", "replaced"]


def test_nodes_of_another_workspace_are_not_found(store: GraphStore, other_store: GraphStore) -> None:
    _, (here,) = talk(store, ("a", "b"))
    _, (there,) = talk(other_store, ("a", "b"))
    for left, right in ((here, there), (there, here), (here, "nowhere")):
        with pytest.raises(NodeNotFound):
            store.compare(left, right)


def test_a_torn_path_is_not_compared_as_if_whole(store: GraphStore, cypher) -> None:
    _, nodes = talk(store, ("a", "b"), ("c", "d"))
    cypher("MATCH (n:Node {workspace: $workspace, id: $id})-[up:PARENT]->() DELETE up", id=nodes[1])
    with pytest.raises(PathBroken):
        store.compare(nodes[0], nodes[1])


def test_only_what_is_below_the_common_part_is_read(store: GraphStore, queries_of) -> None:
    conversation_id, _ = talk(store, *((f"q{i}", f"a{i}") for i in range(20)))
    left = store.conversation(conversation_id).cursor
    right = answered(store.regenerate(conversation_id), "another")
    assert left is not None
    with queries_of(store) as names:
        found = store.compare(left, right)
    assert names == ["read/two_paths", "read/nodes"]
    assert len(found.common) == 19
    assert len(found.left_nodes) == len(found.right_nodes) == 1
