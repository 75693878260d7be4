"""What a node derived is read along the path that led to it, and by no other branch."""

from __future__ import annotations

import pytest
from conversing import answered, ask, talk

from graphstore.errors import ConversationNotFound, IdConflict, InvalidInput, NodeNotFound, PathBroken


@pytest.fixture
def state(store):
    return store.state


def values(facts):
    return {key: fact.value for key, fact in facts.items()}


@pytest.mark.rule("T4")
def test_of_each_key_the_nearest_writer_on_the_path_wins(store, state):
    conversation_id, (first, second, third) = talk(store, ("Q1", "A1"), ("Q2", "A2"), ("Q3", "A3"))
    state.write(third, "city", "Graz")
    state.write(first, "city", "Wien")
    state.write(first, "name", {"of": ["ann", 1.5, None]})
    state.write(second, "city", "Linz", outside={"store": "crm", "id": 7})
    assert values(state.read(conversation_id)) == {"city": "Graz", "name": {"of": ["ann", 1.5, None]}}
    at_second = state.read(node_id=second)
    assert (at_second["city"].value, at_second["city"].node_id) == ("Linz", second)
    assert at_second["city"].outside == {"store": "crm", "id": 7}
    assert values(state.read(node_id=first)) == {"city": "Wien", "name": {"of": ["ann", 1.5, None]}}
    state.write(ask(store, conversation_id, "Forget it", "Done"), "city", None)
    assert state.read(conversation_id)["city"].value is None


@pytest.mark.rule("T4", "B3")
def test_a_branch_never_sees_what_another_derived(store, state):
    conversation_id, (first, second) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    state.write(first, "city", "Wien")
    state.write(second, "city", "Graz")
    state.write(second, "only here", True)
    again = answered(store.regenerate(conversation_id), "A2 again")
    assert values(state.read(conversation_id)) == {"city": "Wien"}
    state.write(again, "city", "Linz")
    store.switch(conversation_id, second)
    assert values(state.read(conversation_id)) == {"city": "Graz", "only here": True}
    fork = store.fork(first)
    assert values(state.read(fork)) == {"city": "Wien"}


@pytest.mark.rule("T4", "S4")
def test_what_a_running_turn_derives_is_seen_from_its_node_and_by_all_once_it_ends(store, state):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        turn.call("Q2").succeed("A2")
        state.write(turn.current.id, "city", "Graz")
        assert state.read(conversation_id) == {}
        assert values(state.read(node_id=turn.current.id)) == {"city": "Graz"}
    assert values(state.read(conversation_id)) == {"city": "Graz"}


@pytest.mark.rule("T4", "B7")
def test_a_compaction_hides_no_state(store, state):
    conversation_id, (first,) = talk(store, ("Q1", "A1"))
    state.write(first, "city", "Graz")
    compaction = store.compact(conversation_id, "a summary")
    ask(store, conversation_id, "Q2", "A2")
    state.write(compaction, "summarised", True)
    assert values(state.read(conversation_id)) == {"city": "Graz", "summarised": True}


@pytest.mark.rule("T4", "S5")
def test_the_same_writing_again_changes_nothing_and_another_value_is_refused(store, state):
    _, (node, other) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    for _ in range(2):
        state.write(node, "city", "Graz", outside="crm")
    before = state.read(node_id=node)
    for value, outside in (("Linz", "crm"), ("Graz", None)):
        with pytest.raises(IdConflict, match="city"):
            state.write(node, "city", value, outside=outside)
    state.write(other, "city", "Linz")
    assert state.read(node_id=node) == before


@pytest.mark.rule("T4", "T3")
def test_a_switch_lists_what_the_branch_left_behind_had_written_outside(store, state):
    conversation_id, (first, second) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    state.write(first, "city", "Wien", outside="crm")
    state.write(second, "city", "Graz", outside={"store": "crm", "id": 7})
    state.write(second, "mood", "fine")
    assert state.left_behind(conversation_id) == []
    again = answered(store.regenerate(conversation_id), "A2 again")
    (left,) = state.left_behind(conversation_id)
    assert (left.key, left.node_id, left.outside) == ("city", second, {"store": "crm", "id": 7})
    ask(store, conversation_id, "Q3", "A3")
    assert state.left_behind(conversation_id, from_node=second) == [left]
    assert state.left_behind(conversation_id, from_node=again) == []
    store.switch(conversation_id, second)
    assert state.left_behind(conversation_id) == []


@pytest.mark.rule("T4", "X2", "X3", "S6")
def test_state_goes_with_its_nodes_or_is_handed_over_with_them(store, state, cypher):
    conversation_id, (first, second) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    state.write(first, "city", "Wien", outside="crm")
    state.write(second, "city", "Graz")
    answered(store.regenerate(conversation_id), "A2 again")
    store.tombstone(second)
    with pytest.raises(NodeNotFound):
        state.write(second, "more", 1)
    store.purge(second)
    with pytest.raises(NodeNotFound):
        state.read(node_id=second)
    fork = store.fork(first)
    store.clear(conversation_id)
    assert state.read(conversation_id) == {}
    assert values(state.read(fork)) == {"city": "Wien"}
    other = store.fork(first)
    store.delete_conversation(fork, on_shared="erase")
    erased = state.read(other)["city"]
    assert (erased.value, erased.outside) == (None, None)
    store.delete_conversation(other)
    assert cypher("MATCH (f:Fact {workspace: $workspace}) RETURN count(f) AS n") == [{"n": 0}]


@pytest.mark.rule("T4", "S8", "A5")
def test_what_is_not_there_or_not_whole_is_not_read(store, other_store, state, cypher):
    conversation_id, (node, second) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    state.write(node, "city", "Graz")
    for unknown, error in (
        ({"conversation_id": conversation_id}, ConversationNotFound),
        ({"node_id": node}, NodeNotFound),
    ):
        with pytest.raises(error):
            other_store.state.read(**unknown)
    with pytest.raises(NodeNotFound):
        other_store.state.write(node, "city", "Graz")
    with pytest.raises(ConversationNotFound):
        other_store.state.left_behind(conversation_id)
    with pytest.raises(NodeNotFound):
        state.left_behind(conversation_id, from_node="unknown")
    with pytest.raises(InvalidInput):
        state.read()
    assert state.read(store.create_conversation()) == {}
    cypher("MATCH (:Node {workspace: $workspace, id: $id})-[up:PARENT]->() DELETE up RETURN 1 AS done", id=second)
    with pytest.raises(PathBroken):
        state.read(conversation_id)
