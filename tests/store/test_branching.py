"""Edit, regenerate, correct and switch (rules B1 to B3, B5)."""

from __future__ import annotations

import pytest
from conversing import answered, ask, assistant, said, talk, tool_call, tool_result, user

from graphstore import errors


@pytest.mark.rule("B1")
def test_an_edited_question_starts_a_new_turn_under_the_same_parent(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"), ("Q3", "A3"))
    turn = store.edit(conversation_id, nodes[1], "Q2b")
    assert said(turn.current.context) == ["Q1", "A1", "Q2b"]
    edited = answered(turn, "A2b")
    node = store.node(edited)
    assert (node.parent_id, node.sent) == (nodes[0], [user("Q2b")])
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2b", "A2b"]


@pytest.mark.rule("B1")
def test_editing_the_first_question_leaves_the_cursor_at_no_node_until_the_turn_ends(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    turn = store.edit(conversation_id, nodes[0], "Q1b")
    assert store.conversation(conversation_id).cursor is None
    edited = answered(turn, "A1b")
    assert store.node(edited).parent_id is None
    assert said(store.context(conversation_id)) == ["Q1b", "A1b"]


@pytest.mark.rule("B1")
def test_a_turn_may_be_edited_by_any_of_its_nodes(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        turn.call("Q2").succeed([tool_call("c1")])
        turn.call([tool_result("c1")]).succeed("A2")
    edited = answered(store.edit(conversation_id, turn.last_id, "Q2b"), "A2b")
    assert store.node(edited).parent_id == store.node(turn.calls[0].id).parent_id
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2b", "A2b"]


@pytest.mark.rule("B1")
def test_only_what_is_named_is_replaced_and_the_rest_of_the_nodes_items_is_kept(store):
    image = {"type": "image", "url": "https://example.org/a.png"}
    sent = [
        {"type": "message", "role": "developer", "content": "Answer in French."},
        {"type": "document", "title": "kept", "number": 2**80},
        {"type": "message", "role": "user", "content": [{"type": "text", "text": "What is this?"}, image]},
    ]
    conversation_id = store.create_conversation()
    node_id = ask(store, conversation_id, sent, "A cat.")
    by_text = answered(store.edit(conversation_id, node_id, "And what is that?"), "A dog.")
    assert store.node(by_text).sent == [
        *sent[:2],
        {"type": "message", "role": "user", "content": [{"type": "text", "text": "And what is that?"}, image]},
    ]
    by_place = answered(store.edit(conversation_id, node_id, {0: user("In German.")}), "Eine Katze.")
    assert store.node(by_place).sent == [user("In German."), *sent[1:]]
    assert store.node(node_id).sent == sent


@pytest.mark.rule("B1")
def test_an_edit_with_nothing_to_replace_is_refused_and_moves_nothing(store):
    conversation_id = store.create_conversation()
    with pytest.raises(errors.NodeNotFound):
        store.edit(conversation_id, "nowhere", "Q")
    node_id = ask(store, conversation_id, [{"type": "note", "text": "no question"}], "A")
    with pytest.raises(errors.InvalidInput, match="no user message"):
        store.edit(conversation_id, node_id, "Q")
    with pytest.raises(errors.InvalidInput, match="item 3"):
        store.edit(conversation_id, node_id, {3: user("Q")})
    conversation = store.conversation(conversation_id)
    assert (conversation.cursor, conversation.turn, conversation.version) == (node_id, None, 1)


@pytest.mark.rule("B2")
def test_regenerating_five_times_gives_five_siblings_with_equal_sent_items(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    sent = b'[{"type":"message","role":"user","content":"Q2","weight":1.50}]'
    first = ask(store, conversation_id, sent, "A2", model="gpt-5", provider="openai", system="Be brief.")
    siblings = [first] + [answered(store.regenerate(conversation_id), f"A2 {n}") for n in range(4)]
    stored = [store.node(sibling) for sibling in siblings]
    assert len({node.id for node in stored}) == 5
    assert {node.parent_id for node in stored} == {nodes[0]}
    assert {(node.model, node.provider, node.system_hash, node.context_hash) for node in stored} == {
        ("gpt-5", "openai", stored[0].system_hash, stored[0].context_hash)
    }
    bodies = {store.context(node_id=node).body.partition(b'"weight":')[2][:4] for node in siblings}
    assert bodies == {b"1.50"}
    assert [store.markers(conversation_id)[1].position, store.markers(conversation_id)[1].count] == [5, 5]
    assert (store.markers(conversation_id)[1].versions, store.markers(conversation_id)[1].answers) == (1, 5)


@pytest.mark.rule("B2")
def test_regenerating_a_turn_of_several_rounds_asks_its_question_again(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("Q").succeed([tool_call("c1")])
        turn.call([tool_result("c1")]).succeed("A")
    again = store.regenerate(conversation_id)
    assert again.current.context.items == [user("Q")]
    answered(again, "A at once")
    assert said(store.context(conversation_id)) == ["Q", "A at once"]


@pytest.mark.rule("B2")
def test_a_failed_call_can_be_regenerated(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("Q").fail("timeout")
    answered(store.regenerate(conversation_id), "A")
    assert said(store.context(conversation_id)) == ["Q", "A"]


@pytest.mark.rule("B2")
def test_there_is_nothing_to_regenerate_or_correct_in_an_empty_conversation(store):
    conversation_id = store.create_conversation()
    for verb in (lambda: store.regenerate(conversation_id), lambda: store.correct(conversation_id, "A")):
        with pytest.raises(errors.InvalidInput, match="empty"):
            verb()


@pytest.mark.rule("B2")
def test_a_persons_correction_is_a_sibling_marked_as_theirs(store):
    conversation_id = store.create_conversation()
    node_id = ask(store, conversation_id, "2+2?", "5", model="gpt-5", system="Be exact.")
    corrected = store.correct(conversation_id, "4", metadata={"by": "ana"})
    node, original = store.node(corrected), store.node(node_id)
    assert (node.sent, node.returned, node.author) == (original.sent, [assistant("4")], "person")
    assert (node.parent_id, node.status, node.metadata) == (None, "succeeded", {"by": "ana"})
    assert (node.model, node.usage) == (None, None)
    assert (node.context_hash, node.system_hash) == (original.context_hash, original.system_hash)
    assert (original.author, original.returned) == ("model", [assistant("5")])
    assert store.conversation(conversation_id).cursor == corrected
    assert store.context(conversation_id).settings.system == "Be exact."
    marker = store.markers(conversation_id)[0]
    assert (marker.position, marker.count, marker.versions, marker.answer) == (2, 2, 1, 2)


@pytest.mark.rule("B3")
def test_nothing_is_copied_changed_or_deleted_by_any_of_them(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"), ("Q3", "A3"))
    before = {node.id: node for node in store.tree(conversation_id)}
    answered(store.edit(conversation_id, nodes[0], "Q1b"), "A1b")
    store.switch(conversation_id, nodes[0])
    answered(store.regenerate(conversation_id, nodes[1]), "A2b")
    store.correct(conversation_id, "A3b", node_id=nodes[2])
    after = {node.id: node for node in store.tree(conversation_id)}
    assert {node_id: after[node_id] for node_id in before} == before
    assert len(after) == len(before) + 3
    assert said(store.context(node_id=nodes[2])) == ["Q1", "A1", "Q2", "A2", "Q3", "A3"]


@pytest.mark.rule("B5")
def test_switching_to_an_older_branch_lands_where_the_cursor_was_there_most_recently(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    other = answered(store.edit(conversation_id, nodes[1], "Q2b"), "A2b")
    beyond = ask(store, conversation_id, "Q3b", "A3b")
    newer = answered(store.regenerate(conversation_id), "A3c")
    store.switch(conversation_id, beyond)
    store.switch(conversation_id, nodes[1])
    assert store.switch(conversation_id, other) == beyond  # not the newer one, which was left again
    assert store.conversation(conversation_id).cursor == beyond
    assert store.switch(conversation_id, newer) == newer
    assert store.switch(conversation_id, nodes[0]) == newer


@pytest.mark.rule("B5", "C3")
def test_switching_to_a_branch_that_was_never_current_goes_to_its_newest_turn_end(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id, exclusive=False) as turn:
        late = store.turn(conversation_id, exclusive=False)
        late.call("Q2b").succeed([tool_call("c1")])
        late.call([tool_result("c1")]).succeed("A2b")
        turn.call("Q2").succeed("A2")
    with pytest.raises(errors.CursorMoved):
        late.end()
    assert store.switch(conversation_id, late.calls[0].id) == late.last_id
    assert said(store.context(conversation_id))[-1] == "A2b"


@pytest.mark.rule("B5", "S8")
def test_a_switch_stays_within_its_conversation(store):
    mine, mine_nodes = talk(store, ("Q1", "A1"))
    _, theirs = talk(store, ("X1", "Y1"))
    with pytest.raises(errors.NodeNotFound, match=theirs[0]):
        store.switch(mine, theirs[0])
    assert store.conversation(mine).cursor == mine_nodes[0]


@pytest.mark.rule("B5", "B4")
def test_following_the_arrows_reaches_every_sibling(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    for number in range(3):
        answered(store.regenerate(conversation_id), f"A1 {number}")
    seen = [store.conversation(conversation_id).cursor]
    while (left := store.markers(conversation_id)[0].left) is not None:
        seen.append(store.switch(conversation_id, left))
    assert seen[-1] == nodes[0]
    assert len(set(seen)) == 4
