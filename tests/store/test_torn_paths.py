"""A path that doesn't reach a known top is never given as if it were whole (rule A5)."""

from __future__ import annotations

import pytest
from conversing import talk

from graphstore import errors


@pytest.fixture
def torn(store, cypher):
    """A conversation of three turns whose middle node has lost its edge."""
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"), ("Q3", "A3"))
    cypher("MATCH (:Node {workspace: $workspace, id: $id})-[up:PARENT]->() DELETE up", id=nodes[1])
    return conversation_id, nodes


@pytest.mark.rule("A5")
def test_a_context_whose_top_is_neither_root_nor_compaction_is_refused(torn, new_process_store):
    conversation_id, nodes = torn
    fresh = new_process_store()
    for read in (
        lambda: fresh.context(conversation_id),
        lambda: fresh.context(node_id=nodes[2]),
        lambda: fresh.context(node_id=nodes[1], new_items="Q"),
        lambda: fresh.path(conversation_id),
        lambda: fresh.path(node_id=nodes[2]),
        lambda: fresh.turn(conversation_id).call("Q4"),
    ):
        with pytest.raises(errors.PathBroken, match=nodes[1]):
            read()


@pytest.mark.rule("A5")
def test_what_is_above_the_tear_is_still_given(torn, new_process_store):
    _, nodes = torn
    assert len(new_process_store().context(node_id=nodes[0]).items) == 2


@pytest.mark.rule("A5", "X1")
def test_a_fork_below_the_tear_is_refused_its_context_too(torn, new_process_store):
    _, nodes = torn
    fresh = new_process_store()
    fork_id = fresh.fork(nodes[2])
    with pytest.raises(errors.PathBroken):
        fresh.context(fork_id)
