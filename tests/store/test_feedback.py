"""Feedback on nodes, and summaries of branches."""

from __future__ import annotations

import pytest
from conversing import answered, talk

from graphstore import GraphStore
from graphstore.errors import ConversationNotFound, IdConflict, InvalidInput, NodeNotFound


@pytest.mark.rule("W2")
def test_feedback_says_what_by_whom_and_when(store: GraphStore) -> None:
    conversation_id, (node,) = talk(store, ("a", "b"))
    given = store.feedback.give(node, rating="up", score=0.8, text="clear", by="ann")
    store.feedback.give(node, rating="down", by="bob")
    ann, bob = store.feedback.of(conversation_id)
    assert (ann.id, ann.node_id, ann.rating, ann.score, ann.text, ann.by) == (given, node, "up", 0.8, "clear", "ann")
    assert (bob.rating, bob.score, bob.text, bob.by) == ("down", None, None, "bob")
    assert ann.created_at <= bob.created_at
    assert store.feedback.on(node) == [ann, bob]


@pytest.mark.rule("W2")
def test_the_stores_actor_gives_feedback_unless_another_is_named(connected: GraphStore, store: GraphStore) -> None:
    _, (node,) = talk(store, ("a", "b"))
    connected.in_workspace(store.workspace, actor="carol").feedback.give(node, rating="up")
    assert [one.by for one in store.feedback.on(node)] == ["carol"]


@pytest.mark.rule("W2", "S5")
def test_the_same_feedback_again_changes_nothing_and_another_is_refused(store: GraphStore) -> None:
    _, (node, other) = talk(store, ("a", "b"), ("c", "d"))
    for _ in range(2):
        assert store.feedback.give(node, rating="up", text="x", id="f1") == "f1"
    for change in ({"rating": "down", "text": "x"}, {"rating": "up"}, {"rating": "up", "text": "x", "by": "ann"}):
        with pytest.raises(IdConflict):
            store.feedback.give(node, id="f1", **change)  # type: ignore[arg-type]
    with pytest.raises(IdConflict):
        store.feedback.give(other, rating="up", text="x", id="f1")
    assert len(store.feedback.on(node)) == 1


@pytest.mark.rule("W2")
def test_feedback_is_withdrawn_once(store: GraphStore, other_store: GraphStore) -> None:
    _, (node,) = talk(store, ("a", "b"))
    given = store.feedback.give(node, rating="up")
    assert not other_store.feedback.withdraw(given)
    assert store.feedback.withdraw(given)
    assert not store.feedback.withdraw(given)
    assert store.feedback.on(node) == []


@pytest.mark.rule("W2")
def test_hostile_text_comes_back_as_it_was(store: GraphStore) -> None:
    _, (node,) = talk(store, ("a", "b"))
    for text in ("\x00", "half \ud800", "'; MATCH (n) DETACH DELETE n //", "\x1a{}", ""):
        given = store.feedback.give(node, text=text, by=text)
        (found,) = (one for one in store.feedback.on(node) if one.id == given)
        assert (found.text, found.by) == (text, text)


@pytest.mark.rule("W2")
def test_feedback_on_hidden_branches_is_left_out(store: GraphStore) -> None:
    conversation_id, (old,) = talk(store, ("a", "b"))
    store.feedback.give(old, rating="down")
    answered(store.regenerate(conversation_id), "c")
    store.tombstone(old)
    assert store.feedback.of(conversation_id) == []
    with pytest.raises(NodeNotFound):
        store.feedback.give(old, rating="up")
    store.restore(old)
    assert len(store.feedback.of(conversation_id)) == 1


@pytest.mark.rule("W2", "S8")
def test_what_is_no_feedback_or_no_node_is_refused(store: GraphStore, other_store: GraphStore) -> None:
    conversation_id, (node,) = talk(store, ("a", "b"))
    for wrong in (
        {}, {"rating": "sideways"}, {"score": float("nan")}, {"score": True}, {"score": "1"}, {"score": 10**400},
        {"text": 7}, {"rating": "up", "by": 7}, {"rating": "up", "id": ""},
    ):  # fmt: skip
        with pytest.raises(InvalidInput):
            store.feedback.give(node, **wrong)  # type: ignore[arg-type]
    with pytest.raises(NodeNotFound):
        other_store.feedback.give(node, rating="up")
    with pytest.raises(ConversationNotFound):
        other_store.feedback.of(conversation_id)
    assert store.feedback.of(conversation_id) == []


@pytest.mark.rule("W6")
def test_a_summary_stays_with_its_branch_until_replaced_or_removed(store: GraphStore) -> None:
    conversation_id, (old,) = talk(store, ("a", "b"))
    answered(store.regenerate(conversation_id), "c")
    store.summaries.attach(old, "Tried b", by="ann")
    (first,) = store.summaries.of(conversation_id)
    assert (first.node_id, first.text, first.by) == (old, "Tried b", "ann")
    store.summaries.attach(old, "Tried b", by="bob")
    assert store.summaries.of(conversation_id) == [first], "the same text again changes nothing"
    store.summaries.attach(old, "Tried b, in vain", by="bob")
    (second,) = store.summaries.of(conversation_id)
    assert (second.text, second.by) == ("Tried b, in vain", "bob")
    assert store.summaries.remove(old)
    assert not store.summaries.remove(old)
    assert store.summaries.of(conversation_id) == []


@pytest.mark.rule("W6")
def test_summaries_of_hidden_branches_and_other_workspaces_are_not_shown(
    store: GraphStore, other_store: GraphStore
) -> None:
    conversation_id, (old,) = talk(store, ("a", "b"))
    store.summaries.attach(old, "Tried b")
    with pytest.raises(NodeNotFound):
        other_store.summaries.attach(old, "x")
    assert not other_store.summaries.remove(old)
    answered(store.regenerate(conversation_id), "c")
    store.tombstone(old)
    assert store.summaries.of(conversation_id) == []
    with pytest.raises(NodeNotFound):
        store.summaries.attach(old, "x")
    for wrong in ("", None, 7):
        with pytest.raises(InvalidInput):
            store.summaries.attach(old, wrong)  # type: ignore[arg-type]
