"""Where each turn of the path stands among its siblings (rule B4)."""

from __future__ import annotations

import pytest
from conversing import answered, ask, talk, tool_call, tool_result

GONE = 0.001


@pytest.mark.rule("B4")
def test_a_path_without_branches_is_one_of_one_everywhere(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    markers = store.markers(conversation_id)
    assert [marker.node_id for marker in markers] == nodes
    for marker in markers:
        assert (marker.position, marker.count, marker.siblings) == (1, 1, (marker.node_id,))
        assert (marker.left, marker.right, marker.version, marker.answers) == (None, None, 1, 1)


@pytest.mark.rule("B4", "B1")
def test_the_switcher_counts_three_of_three_after_two_edits(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    ids = [nodes[1]]
    for text in ("Q2b", "Q2c"):
        ids.append(answered(store.edit(conversation_id, ids[-1], text), "A"))
    marker = store.markers(conversation_id)[1]
    assert (marker.position, marker.count, marker.siblings) == (3, 3, tuple(ids))
    assert (marker.left, marker.right) == (ids[1], None)
    assert (marker.version, marker.versions, marker.answer, marker.answers) == (3, 3, 1, 1)
    store.switch(conversation_id, ids[0])
    marker = store.markers(conversation_id)[1]
    assert (marker.position, marker.count, marker.left, marker.right) == (1, 3, None, ids[1])


@pytest.mark.rule("B4")
def test_versions_of_the_question_are_told_apart_from_answers_to_it(store):
    conversation_id, nodes = talk(store, ("Q", "A"))
    second = answered(store.regenerate(conversation_id), "B")
    edited = answered(store.edit(conversation_id, second, "Q2"), "C")
    answered(store.regenerate(conversation_id), "D")
    third = answered(store.regenerate(conversation_id, nodes[0]), "E")
    marker = store.markers(conversation_id)[0]
    assert (marker.node_id, marker.position, marker.count) == (third, 5, 5)
    assert (marker.version, marker.versions, marker.answer, marker.answers) == (1, 2, 3, 3)
    [marker] = store.markers(conversation_id, node_id=edited)
    assert (marker.version, marker.versions, marker.answer, marker.answers) == (2, 2, 1, 2)


@pytest.mark.rule("B4")
def test_later_rounds_and_compactions_never_count(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        turn.call("Q2").succeed([tool_call("c1")])
        turn.call([tool_result("c1")]).succeed("A2")
    store.compact(conversation_id, "Summary")
    ask(store, conversation_id, "Q3", "A3")
    markers = store.markers(conversation_id)
    assert [marker.node_id for marker in markers] == [
        nodes[0],
        turn.calls[0].id,
        store.conversation(conversation_id).cursor,
    ]
    assert {marker.count for marker in markers} == {1}


@pytest.mark.rule("B4", "S6")
def test_a_branch_taken_from_view_does_not_count(store, cypher):
    conversation_id, _nodes = talk(store, ("Q", "A"))
    hidden = answered(store.regenerate(conversation_id), "B")
    answered(store.regenerate(conversation_id), "C")
    cypher(
        "MATCH (n:Node {workspace: $workspace, id: $id}) SET n.deleted_at = datetime.realtime()",
        id=hidden,
    )
    [marker] = store.markers(conversation_id)
    assert (marker.position, marker.count) == (2, 2)
    assert hidden not in marker.siblings


@pytest.mark.rule("B4")
def test_at_most_fifty_sibling_ids_are_given_around_the_position_but_all_are_counted(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id, exclusive=False) as turn:
        others = [store.turn(conversation_id, exclusive=False) for _ in range(54)]
        for other in others[:30]:
            other.call("Q").succeed("A")
        turn.call("Q").succeed("A")
        for other in others[30:]:
            other.call("Q").succeed("A")
    [marker] = store.markers(conversation_id)
    assert (marker.position, marker.count, len(marker.siblings)) == (31, 55, 50)
    assert turn.last_id in marker.siblings
    assert (marker.left, marker.right) == (others[29].last_id, others[30].last_id)


@pytest.mark.rule("B4", "X1")
def test_branches_that_another_conversation_grew_on_a_shared_prefix_are_not_counted(store):
    origin, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    answered(store.regenerate(origin), "A2b")
    fork = store.fork(nodes[1])
    answered(store.regenerate(fork), "A2 in the fork")
    mine = store.markers(fork)
    # its own new one, and the node where it began
    assert [(marker.position, marker.count) for marker in mine] == [(1, 1), (2, 2)]
    assert mine[1].siblings == (nodes[1], store.conversation(fork).cursor)
    assert [(marker.position, marker.count) for marker in store.markers(origin)] == [(1, 1), (2, 2)]
    assert store.conversation(fork).cursor not in store.markers(origin)[1].siblings


@pytest.mark.rule("B4", "X1")
def test_the_node_where_a_fork_began_counts_among_first_questions_too(store):
    _, nodes = talk(store, ("Q1", "A1"))
    fork = store.fork(nodes[0])
    edited = answered(store.edit(fork, nodes[0], "Q1b"), "A1b")
    [marker] = store.markers(fork)
    assert (marker.siblings, marker.left) == ((nodes[0], edited), nodes[0])
    assert store.switch(fork, marker.left) == nodes[0]
    assert [(m.position, m.count) for m in store.markers(fork)] == [(1, 2)]
