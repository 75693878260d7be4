"""A conversation that starts at a node of another (rule X1)."""

from __future__ import annotations

import pytest
from conversing import answered, ask, said, talk

from graphstore import errors


@pytest.mark.rule("X1", "C1")
def test_a_fork_stands_at_the_node_copies_nothing_and_knows_where_it_began(store, cypher):
    origin, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    fork = store.fork(nodes[0], title="Another way", metadata={"a": 1})
    conversation = store.conversation(fork)
    assert (conversation.cursor, conversation.forked_from, conversation.forked_at) == (nodes[0], origin, nodes[0])
    assert (conversation.title, conversation.metadata) == ("Another way", {"a": 1})
    assert said(store.context(fork)) == ["Q1", "A1"]
    assert [(move.reason, move.to_id) for move in store.moves(fork)] == [("fork", nodes[0])]
    assert cypher("MATCH (n:Node {workspace: $workspace}) RETURN count(n) AS stored") == [{"stored": 2}]


@pytest.mark.rule("X1")
def test_neither_shows_what_the_other_adds_later(store, new_process_store):
    origin, nodes = talk(store, ("Q1", "A1"))
    fork = store.fork(nodes[0])
    in_origin = ask(store, origin, "Q2 there", "A2 there")
    in_fork = ask(store, fork, "Q2 here", "A2 here")
    for reader in (store, new_process_store()):
        assert said(reader.context(fork)) == ["Q1", "A1", "Q2 here", "A2 here"]
        assert said(reader.context(origin)) == ["Q1", "A1", "Q2 there", "A2 there"]
        assert [node.id for node in reader.tree(fork)] == [nodes[0], in_fork]
        assert [node.id for node in reader.tree(origin)] == [nodes[0], in_origin]
        assert [(m.position, m.count) for m in reader.markers(fork)] == [(1, 1), (1, 1)]
    with pytest.raises(errors.NodeNotFound):
        store.switch(fork, in_origin)
    with pytest.raises(errors.NodeNotFound):
        store.edit(fork, in_origin, "Q")
    assert store.switch(fork, nodes[0]) == in_fork
    assert store.switch(origin, nodes[0]) == in_origin


@pytest.mark.rule("X1", "B1")
def test_a_fork_may_branch_from_the_shared_prefix_and_come_back(store):
    origin, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    fork = store.fork(nodes[1])
    edited = answered(store.edit(fork, nodes[0], "Q1b"), "A1b")
    assert said(store.context(fork)) == ["Q1b", "A1b"]
    assert store.node(edited).conversation_id == fork
    again = answered(store.regenerate(fork, nodes[1]), "A2b")
    assert said(store.context(fork)) == ["Q1", "A1", "Q2", "A2b"]
    assert store.switch(fork, nodes[1]) == nodes[1]
    assert store.switch(fork, again) == again
    assert said(store.context(origin)) == ["Q1", "A1", "Q2", "A2"]
    assert len(store.tree(origin)) == 2


@pytest.mark.rule("X1", "S5")
def test_a_fork_repeated_by_id_is_the_same_and_an_id_in_use_is_refused(store):
    origin, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    for _ in range(2):
        assert store.fork(nodes[0], id="f") == "f"
    with pytest.raises(errors.IdConflict):
        store.fork(nodes[1], id="f")
    with pytest.raises(errors.IdConflict):
        store.fork(nodes[0], id=origin)
    with pytest.raises(errors.IdConflict):
        store.create_conversation(id="f")
    with pytest.raises(errors.NodeNotFound):
        store.fork("nowhere")
    assert len(store.moves("f")) == 1


@pytest.mark.rule("X1", "C5")
def test_a_turn_of_the_origin_does_not_hold_the_fork(store):
    origin, nodes = talk(store, ("Q1", "A1"))
    fork = store.fork(nodes[0])
    with store.turn(origin) as turn:
        turn.call("Q2").succeed("A2")
        ask(store, fork, "Q2b", "A2b")
    assert said(store.context(fork))[-1] == "A2b"


@pytest.mark.rule("X1")
def test_forks_of_forks_share_the_whole_prefix(store):
    conversation_id, _nodes = talk(store, ("Q0", "A0"))
    for number in range(1, 4):
        conversation_id = store.fork(store.conversation(conversation_id).cursor)
        ask(store, conversation_id, f"Q{number}", f"A{number}")
    assert said(store.context(conversation_id)) == ["Q0", "A0", "Q1", "A1", "Q2", "A2", "Q3", "A3"]
    assert [marker.count for marker in store.markers(conversation_id)] == [1, 1, 1, 1]
