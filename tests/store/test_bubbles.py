"""What a screen shows: bubbles on the path, in order, with markers, a page at a time (rules D1, D2)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from conversing import answered, ask, said, talk

from graphstore import errors


def texts(page):
    return [bubble.content["text"] for bubble in page.bubbles]


def shown(store, conversation_id, question, answer):
    """A turn whose question and answer have a bubble each."""
    node = ask(store, conversation_id, question, answer)
    store.add_bubble(node, question)
    store.add_bubble(node, answer)
    return node


@pytest.fixture
def talked(store):
    """A conversation of three turns with bubbles."""
    conversation_id = store.create_conversation()
    nodes = [shown(store, conversation_id, f"Q{n}", f"A{n}") for n in (1, 2, 3)]
    return conversation_id, nodes


@pytest.mark.rule("D1")
def test_a_bubble_holds_what_a_screen_shows_and_is_no_part_of_any_context(store):
    conversation_id, (node,) = talk(store, ("Q", "A"))
    content = {"text": "4.2 million \ud83d", "chart": {"points": [1, 2.50, 10**20]}, "status": "done"}
    bubble_id = store.add_bubble(node, content)
    before = said(store.context(conversation_id))
    (bubble,) = store.bubbles(conversation_id).bubbles
    assert (bubble.id, bubble.node_id, bubble.turn_id) == (bubble_id, node, store.node(node).turn_id)
    assert bubble.content == content
    assert list(bubble.content) == list(content)
    assert said(store.context(conversation_id)) == before


@pytest.mark.rule("D1", "S5")
def test_adding_a_bubble_again_changes_nothing_and_another_under_its_id_is_refused(store, talked):
    conversation_id, nodes = talked
    assert store.add_bubble(nodes[0], "once", id="b") == store.add_bubble(nodes[0], "once", id="b") == "b"
    assert texts(store.bubbles(conversation_id)).count("once") == 1
    for node, content in ((nodes[0], "twice"), (nodes[1], "once")):
        with pytest.raises(errors.IdConflict, match="'b'"):
            store.add_bubble(node, content, id="b")
    with pytest.raises(errors.NodeNotFound):
        store.add_bubble("nowhere", "x")
    with pytest.raises(errors.InvalidInput):
        store.add_bubble(nodes[0], ["x"])


@pytest.mark.rule("D1", "S5")
def test_of_many_that_add_one_bubble_at_once_one_does(store, talked, cypher):
    _, nodes = talked
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: store.add_bubble(nodes[0], "x", id="raced"), range(16))) == {"raced"}
    assert cypher("MATCH (b:Bubble {workspace: $workspace, id: 'raced'})-[:OF]->() RETURN count(*) AS n")[0]["n"] == 1


@pytest.mark.rule("D2")
def test_only_bubbles_on_the_path_are_shown_and_in_order(store, talked):
    conversation_id, nodes = talked
    edited = answered(store.edit(conversation_id, nodes[1], "Q2b"), "A2b")
    store.add_bubble(edited, "Q2b")
    assert texts(store.bubbles(conversation_id)) == ["Q1", "A1", "Q2b"]
    store.switch(conversation_id, nodes[1])
    assert texts(store.bubbles(conversation_id)) == ["Q1", "A1", "Q2", "A2", "Q3", "A3"]


@pytest.mark.rule("D2", "B4")
def test_a_page_comes_with_the_markers_of_its_turns_from_one_query(store, talked, queries_of):
    conversation_id, nodes = talked
    store.add_bubble(answered(store.edit(conversation_id, nodes[1], "Q2b"), "A2b"), "A2b")
    with queries_of(store) as names:
        page = store.bubbles(conversation_id)
    assert names == ["read/bubbles"]
    assert list(page.markers) == store.markers(conversation_id)
    assert [(marker.position, marker.count) for marker in page.markers] == [(1, 1), (2, 2)]
    assert page.node_id == store.conversation(conversation_id).cursor


@pytest.mark.rule("D2")
def test_pages_are_read_from_the_end_and_each_bubble_is_on_one(store, talked):
    conversation_id, nodes = talked
    whole = store.bubbles(conversation_id)
    for limit in (1, 2, 3, 5):
        pages, before = [], None
        while True:
            page = store.bubbles(conversation_id, before=before, limit=limit)
            assert len(page.bubbles) <= limit
            assert {marker.turn_id for marker in page.markers} == {bubble.turn_id for bubble in page.bubbles}
            pages.insert(0, page)
            before = page.before
            if before is None:
                break
        assert [bubble for page in pages for bubble in page.bubbles] == list(whole.bubbles)
    page = store.bubbles(conversation_id, limit=1)
    answered(store.edit(conversation_id, nodes[2], "Q3b"), "A3b")
    with pytest.raises(errors.InvalidInput, match="not on the path"):
        store.bubbles(conversation_id, before=page.before)
    with pytest.raises(errors.InvalidInput):
        store.bubbles(conversation_id, limit=0)


@pytest.mark.rule("D2")
def test_bubbles_of_one_node_keep_their_order_whatever_their_ids(store):
    conversation_id, (node,) = talk(store, ("Q", "A"))
    for name in ("z", "a", "m"):
        store.add_bubble(node, name, id=name)
    assert texts(store.bubbles(conversation_id)) == ["z", "a", "m"]


@pytest.mark.rule("D2", "C5")
def test_a_running_turn_is_on_the_screen_before_the_cursor_is_there(store, talked):
    conversation_id, nodes = talked
    turn = store.turn(conversation_id)
    call = turn.call("Q4")
    store.add_bubble(call.id, "Q4")
    page = store.bubbles(conversation_id)
    assert (page.node_id, texts(page)[-1]) == (call.id, "Q4")
    assert store.conversation(conversation_id).cursor == nodes[2]
    call.succeed("A4", end_turn=True)
    assert store.bubbles(conversation_id) == page


@pytest.mark.rule("D2", "K1")
def test_a_screen_does_not_stop_at_a_compaction(store, talked):
    conversation_id, _ = talked
    store.compact(conversation_id, "summary")
    shown(store, conversation_id, "Q4", "A4")
    assert texts(store.bubbles(conversation_id)) == ["Q1", "A1", "Q2", "A2", "Q3", "A3", "Q4", "A4"]


@pytest.mark.rule("D2", "X1")
def test_a_fork_shows_the_bubbles_of_its_prefix_and_none_of_what_its_origin_added(store, talked):
    conversation_id, nodes = talked
    fork = store.fork(nodes[0])
    shown(store, fork, "QF", "AF")
    page = store.bubbles(fork)
    assert texts(page) == ["Q1", "A1", "QF", "AF"]
    assert list(page.markers) == store.markers(fork)
    assert texts(store.bubbles(conversation_id))[-1] == "A3"


@pytest.mark.rule("D2")
def test_an_empty_conversation_has_an_empty_screen(store, other_store):
    conversation_id = store.create_conversation()
    page = store.bubbles(conversation_id)
    assert (page.node_id, page.bubbles, page.markers, page.before) == (None, (), (), None)
    with pytest.raises(errors.ConversationNotFound):
        other_store.bubbles(conversation_id)


@pytest.mark.rule("X2", "X3", "S6", "D1")
def test_bubbles_go_with_their_nodes_and_the_receipt_counts_them(store, talked, cypher):
    conversation_id, nodes = talked

    def left():
        return cypher("MATCH (b:Bubble {workspace: $workspace}) RETURN count(b) AS n")[0]["n"]

    old = nodes[2]
    answered(store.regenerate(conversation_id), "A3b")
    store.tombstone(old)
    assert store.purge(old).bubbles == 2
    assert left() == 4
    fork = store.fork(nodes[0])
    assert (store.clear(conversation_id).bubbles, left()) == (2, 2)
    assert store.delete_conversation(conversation_id).bubbles == 0
    assert texts(store.bubbles(fork)) == ["Q1", "A1"]
    assert (store.delete_conversation(fork).bubbles, left()) == (2, 0)


@pytest.mark.rule("X2", "D1")
def test_erasure_blanks_the_bubbles_that_a_fork_keeps(store, talked):
    conversation_id, nodes = talked
    fork = store.fork(nodes[0])
    assert store.delete_conversation(conversation_id, on_shared="erase").bubbles == 4
    assert texts(store.bubbles(fork)) == ["[erased]", "[erased]"]


@pytest.mark.rule("X4", "D1")
def test_no_bubble_outlives_a_deletion_that_it_races(store, cypher):
    for _ in range(10):
        conversation_id, (node,) = talk(store, ("Q", "A"))
        with ThreadPoolExecutor(5) as pool:

            def add(_, node=node):
                try:
                    return store.add_bubble(node, "late")
                except errors.NodeNotFound:
                    return None

            adding = [pool.submit(add, n) for n in range(4)]
            pool.submit(store.delete_conversation, conversation_id).result()
            for future in adding:
                future.result()
    assert cypher("MATCH (b:Bubble {workspace: $workspace}) RETURN count(b) AS n")[0]["n"] == 0
