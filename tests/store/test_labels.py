"""Labels on nodes and branches."""

from __future__ import annotations

import threading

import pytest
from conversing import answered, ask, talk

from graphstore import GraphStore
from graphstore.errors import ConversationNotFound, InvalidInput, NodeNotFound

pytestmark = pytest.mark.rule("W2")


def test_a_label_is_on_a_node_or_on_the_branch_that_begins_there(store: GraphStore) -> None:
    conversation_id, (first, second) = talk(store, ("a", "b"), ("c", "d"))
    store.labels.add(first, "best")
    store.labels.add(second, "idea", branch=True)
    best, idea = store.labels.of(conversation_id)
    assert (best.node_id, best.name, best.branch, best.conversation_id) == (first, "best", False, conversation_id)
    assert (idea.node_id, idea.name, idea.branch) == (second, "idea", True)
    assert [one.name for one in store.labels.on(second)] == ["idea"]


def test_a_label_says_who_put_it_there_and_when(connected: GraphStore, store: GraphStore) -> None:
    _, (node,) = talk(store, ("a", "b"))
    ann = connected.in_workspace(store.workspace, actor="ann")
    ann.labels.add(node, "best")
    (label,) = store.labels.on(node)
    assert label.actor == "ann"
    assert label.created_at >= store.node(node).created_at
    connected.in_workspace(store.workspace, actor="bob").labels.add(node, "best")
    assert store.labels.on(node) == [label], "the second changes nothing"


def test_removing_a_label_twice_is_the_same_as_once(store: GraphStore) -> None:
    conversation_id, (node,) = talk(store, ("a", "b"))
    store.labels.add(node, "best")
    store.labels.add(node, "best", branch=True)
    assert store.labels.remove(node, "best")
    assert not store.labels.remove(node, "best")
    assert [one.branch for one in store.labels.of(conversation_id)] == [True]


def test_a_name_is_found_in_the_whole_workspace_a_page_at_a_time(store: GraphStore, other_store: GraphStore) -> None:
    nodes = [talk(store, ("a", "b"))[1][0] for _ in range(5)]
    for node in nodes:
        store.labels.add(node, "best")
        store.labels.add(node, "worst")
    theirs = talk(other_store, ("a", "b"))[1][0]
    other_store.labels.add(theirs, "best")
    found: list[str] = []
    after: str | None = None
    for expected in (2, 2, 1):
        page, after = store.labels.find("best", limit=2, after=after)
        assert len(page) == expected
        found += [one.node_id for one in page]
    assert after is None
    assert found == nodes[::-1]
    assert [one.node_id for one in other_store.labels.find("best")[0]] == [theirs]
    assert store.labels.find("nothing") == ([], None)


def test_labels_of_hidden_branches_are_left_out_until_they_are_shown_again(store: GraphStore) -> None:
    conversation_id, (old,) = talk(store, ("a", "b"))
    store.labels.add(old, "best")
    answered(store.regenerate(conversation_id), "c")
    store.tombstone(old)
    assert store.labels.of(conversation_id) == []
    assert store.labels.on(old) == []
    assert store.labels.find("best") == ([], None)
    with pytest.raises(NodeNotFound):
        store.labels.add(old, "another")
    store.restore(old)
    assert [one.name for one in store.labels.of(conversation_id)] == ["best"]


@pytest.mark.rule("S6", "X2")
def test_labels_feedback_and_summaries_go_with_their_nodes(store: GraphStore, cypher) -> None:
    conversation_id, (first, second) = talk(store, ("a", "b"), ("c", "d"))
    old = second
    answered(store.regenerate(conversation_id), "e")
    for node in (first, old):
        store.labels.add(node, "best")
        store.labels.add(node, "best", branch=True)
        store.feedback.give(node, rating="up")
        store.summaries.attach(node, "What was tried")
    store.tombstone(old)
    assert store.purge(old).nodes == 1
    assert len(store.labels.of(conversation_id)) == 2
    store.delete_conversation(conversation_id)
    (row,) = cypher(
        "MATCH (x {workspace: $workspace}) WHERE x:Label OR x:Feedback OR x:Summary RETURN count(x) AS left"
    )
    assert row["left"] == 0


@pytest.mark.rule("X2")
def test_an_erasing_deletion_blanks_what_was_written_about_the_nodes_it_leaves(store: GraphStore) -> None:
    conversation_id, (node,) = talk(store, ("a", "b"))
    store.labels.add(node, "best")
    store.feedback.give(node, rating="down", text="mentions my address", id="f1", by="ann")
    store.feedback.give(node, score=0.5)
    store.summaries.attach(node, "about my address")
    fork = store.fork(node)
    store.delete_conversation(conversation_id, on_shared="erase")
    assert [one.name for one in store.labels.of(fork)] == ["best"]
    first, second = store.feedback.of(fork)
    assert (first.text, first.rating, first.by) == ("[erased]", "down", "ann")
    assert (second.text, second.score) == (None, 0.5)
    assert [one.text for one in store.summaries.of(fork)] == ["[erased]"]


def test_two_who_add_the_same_label_at_once_make_one(connected: GraphStore, store: GraphStore) -> None:
    conversation_id, (node,) = talk(store, ("a", "b"))
    stores = [connected.in_workspace(store.workspace, actor=f"actor {i}") for i in range(8)]
    start = threading.Barrier(len(stores))
    failed: list[Exception] = []

    def add(one: GraphStore) -> None:
        start.wait()
        try:
            for name in ("a", "b", "c", "d", "e"):
                one.labels.add(node, name)
        except Exception as error:  # noqa: BLE001 - reported by the assertion below
            failed.append(error)

    threads = [threading.Thread(target=add, args=(one,)) for one in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(one.name for one in store.labels.of(conversation_id)) == ["a", "b", "c", "d", "e"]


def test_what_is_no_label_no_node_or_no_page_is_refused(store: GraphStore, other_store: GraphStore) -> None:
    conversation_id, (node,) = talk(store, ("a", "b"))
    for name in ("", "x" * 513, "two\nlines", None, 7):
        with pytest.raises(InvalidInput):
            store.labels.add(node, name)  # type: ignore[arg-type]
    for limit in (0, 1001, "2"):
        with pytest.raises(InvalidInput):
            store.labels.find("best", limit=limit)  # type: ignore[arg-type]
    for key in ("nonsense", "", "é", "bm9uc2Vuc2U"):
        with pytest.raises(InvalidInput):
            store.labels.find("best", after=key)
    with pytest.raises(NodeNotFound):
        other_store.labels.add(node, "best")
    with pytest.raises(NodeNotFound):
        other_store.labels.on(node)
    with pytest.raises(ConversationNotFound):
        other_store.labels.of(conversation_id)
    assert store.labels.of(store.create_conversation()) == []


def test_labels_are_no_part_of_a_context(store: GraphStore) -> None:
    conversation_id, (node,) = talk(store, ("a", "b"))
    before = store.context(conversation_id).hash
    store.labels.add(node, "best")
    store.feedback.give(node, text="good")
    store.summaries.attach(node, "short")
    assert store.in_workspace(store.workspace).context(conversation_id).hash == before
    ask(store, conversation_id, "c", "d")
