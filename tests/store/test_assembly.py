"""What the next call sends (rules A1 to A5)."""

from __future__ import annotations

import json
import logging

import pytest
from conversing import answered, ask, assistant, said, talk, tool_call, tool_result, user

from graphstore import errors
from graphstore.jsontext import loads


def reasoning(text: str) -> dict:
    return {"type": "reasoning", "text": text, "signature": f"sig of {text}"}


@pytest.mark.rule("A1")
def test_a_context_is_every_node_of_the_path_root_first_then_the_new_items(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    context = store.context(conversation_id, new_items="Q3")
    assert said(context) == ["Q1", "A1", "Q2", "A2", "Q3"]
    assert (context.nodes, context.cursor) == (tuple(nodes), nodes[-1])
    assert json.loads(context.body) == context.items


@pytest.mark.rule("A1")
def test_it_takes_one_query_whatever_was_stored(store, new_process_store, queries_of):
    conversation_id, _nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    store.compact(conversation_id, "Summary", readers=["openai"])
    ask(store, conversation_id, "Q3", "A3", system="Be brief.", tools=[{"name": "f"}])
    for asked in ({}, {"for_provider": "openai"}, {"new_items": "Q4"}):
        fresh = new_process_store()
        with queries_of(fresh) as names:
            context = fresh.context(conversation_id, **asked)
            assert context.items
            assert context.body
            assert context.hash
        assert names == ["read/assemble"]
        with queries_of(fresh) as names:
            assert fresh.context(conversation_id, **asked).body == context.body
        assert names == ["read/extend"]


@pytest.mark.rule("A1")
def test_a_context_can_be_asked_for_at_any_node(store):
    _, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"), ("Q3", "A3"))
    assert said(store.context(node_id=nodes[1])) == ["Q1", "A1", "Q2", "A2"]
    with pytest.raises(errors.InvalidInput, match="either"):
        store.context()


@pytest.mark.rule("A1")
def test_an_empty_conversation_has_an_empty_context(store):
    conversation_id = store.create_conversation()
    context = store.context(conversation_id)
    assert (context.items, context.body, context.nodes, context.cursor) == ([], b"[]", (), None)
    assert said(store.context(conversation_id, new_items="Q1")) == ["Q1"]


@pytest.mark.rule("A1", "S1")
def test_the_context_of_a_call_is_the_one_that_its_node_and_new_items_give_again(store, new_process_store):
    conversation_id, _nodes = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        call = turn.call("Q2", system="Be brief.")
        again = new_process_store().context(node_id=call.id)
        assert again.body == call.context.body
        assert again.hash == call.context.hash
        call.succeed("A2")


@pytest.mark.rule("A2", "B1")
def test_an_edited_question_never_shows_the_old_question_or_answer(store, new_process_store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("old question", "old answer"), ("old later", "old end"))
    answered(store.edit(conversation_id, nodes[1], "new question"), "new answer")
    for reader in (store, new_process_store()):
        context = reader.context(conversation_id)
        assert said(context) == ["Q1", "A1", "new question", "new answer"]
        assert b"old" not in context.body


@pytest.mark.rule("A3", "F1")
def test_a_failed_or_unfinished_node_keeps_its_sent_items_and_has_returned_nothing(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("Q1").fail("timeout", "no answer")
    assert said(store.context(conversation_id)) == ["Q1"]
    with store.turn(conversation_id) as turn:
        call = turn.call("Q2")
        assert said(store.context(node_id=call.id)) == ["Q1", "Q2"]
        call.succeed("A2")
    assert said(store.context(conversation_id)) == ["Q1", "Q2", "A2"]


@pytest.mark.rule("A4")
def test_on_a_normal_path_nothing_is_filtered_and_nothing_is_said(store, caplog):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("Q").succeed([reasoning("r"), tool_call("c1"), tool_call("c2")])
        # in another order than they were called, across the boundary of nodes
        turn.call([tool_result("c2"), tool_result("c1")]).succeed("A")
    context = store.context(conversation_id)
    assert [item["type"] for item in context.items] == [
        *("message", "reasoning", "tool_call", "tool_call", "tool_result", "tool_result", "message")
    ]
    assert (context.warnings, context.expected, context.filtered) == ([], [], [])
    assert not caplog.records


@pytest.mark.rule("A4")
def test_a_call_may_pair_with_a_result_many_nodes_later(store, caplog):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("Q").succeed([tool_call("slow"), tool_call("fast")])
        turn.call([tool_result("fast")]).succeed([tool_call("fast")])
        turn.call([tool_result("fast", "again"), tool_result("slow")]).succeed("A")
    context = store.context(conversation_id)
    assert len(context.items) == 8
    assert context.warnings == []
    # while the slow one was out, each round's context had to go without it, and said so
    assert any("'slow'" in record.getMessage() for record in caplog.records)


@pytest.mark.rule("A4")
def test_a_call_without_a_result_is_filtered_with_its_reasoning_logged_and_listed(store, caplog):
    conversation_id = store.create_conversation()
    broken = ask(store, conversation_id, "Q1", [reasoning("for c1"), tool_call("c1")])
    with caplog.at_level(logging.WARNING, "graphstore"):
        context = store.context(conversation_id, new_items="Q2")
    assert said(context) == ["Q1", "Q2"]
    assert [item["type"] for item in context.items] == ["message", "message"]
    assert json.loads(context.body) == context.items
    assert len(context.warnings) == 1
    assert context.expected == []
    logged = caplog.records[-1].getMessage()
    for what in (conversation_id, broken, "c1"):
        assert repr(what) in logged
    assert "'c1'" in context.warnings[0]
    assert repr(broken) in context.warnings[0]
    assert store.node(broken).returned == [reasoning("for c1"), tool_call("c1")]


@pytest.mark.rule("A4")
def test_reasoning_stays_where_its_node_returned_something_that_stays(store):
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Q1", [reasoning("both"), assistant("Let me look."), tool_call("c1")])
    context = store.context(conversation_id, new_items="Q2")
    assert [item["type"] for item in context.items] == ["message", "reasoning", "message", "message"]
    assert len(context.warnings) == 1


@pytest.mark.rule("A4")
def test_a_result_without_a_call_is_filtered_also_in_the_new_items(store, caplog):
    conversation_id = store.create_conversation()
    node_id = ask(store, conversation_id, [user("Q1"), tool_result("ghost")], "A1")
    context = store.context(conversation_id, new_items=[tool_result("other"), user("Q2")])
    assert said(context) == ["Q1", "A1", "Q2"]
    assert [(node, what, call) for node, what, call in context.filtered] == [
        (node_id, "result", "ghost"),
        (None, "result", "other"),
    ]
    assert len(context.warnings) == 2
    assert any("'ghost'" in record.getMessage() for record in caplog.records)


@pytest.mark.rule("A4")
def test_a_repeated_id_pairs_with_the_nearest_unanswered_call(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("Q").succeed([tool_call("x", arguments='{"n":1}')])
        turn.call("Q again").succeed([tool_call("x", arguments='{"n":2}')])
        turn.call([tool_result("x", "of the second")]).succeed("A")
    context = store.context(conversation_id)
    assert [item["arguments"] for item in context.items if item["type"] == "tool_call"] == ['{"n":2}']
    assert len(context.warnings) == 1


@pytest.mark.rule("A4")
def test_a_result_that_comes_before_its_call_does_not_pair_with_it(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call([user("Q"), tool_result("c1")]).succeed([tool_call("c1")])
    context = store.context(conversation_id)
    assert [item["type"] for item in context.items] == ["message"]
    assert len(context.warnings) == 2


@pytest.mark.rule("A4", "A7")
def test_the_filter_gives_the_same_whether_the_path_was_held_or_read(store, new_process_store):
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Q1", [tool_call("c1"), tool_call("c2")])
    ask(store, conversation_id, [tool_result("c2"), user("Q2")], [reasoning("r"), tool_call("c3")])
    held, fresh = store.context(conversation_id), new_process_store().context(conversation_id)
    assert held.held > 0
    assert (held.items, held.body, held.hash, held.warnings) == (fresh.items, fresh.body, fresh.hash, fresh.warnings)


@pytest.mark.rule("A5")
def test_assembly_stores_nothing_and_gives_the_same_bytes_each_time(store, new_process_store, cypher):
    conversation_id, _ = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    everything = "MATCH (x {workspace: $workspace}) RETURN properties(x) AS p ORDER BY elementId(x)"
    before = cypher(everything)
    bodies = {reader.context(conversation_id).body for reader in (store, store, new_process_store())}
    assert len(bodies) == 1
    assert cypher(everything) == before


@pytest.mark.rule("A5")
def test_branches_share_the_bytes_of_their_common_prefix(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    prefix = store.context(node_id=nodes[0]).body.removesuffix(b"]")
    answered(store.edit(conversation_id, nodes[1], "Q2 edited"), "A2b")
    for end in (nodes[1], store.conversation(conversation_id).cursor):
        assert store.context(node_id=end).body.startswith(prefix)
    longer = store.context(conversation_id, new_items="Q3").body
    assert longer.startswith(store.context(conversation_id).body.removesuffix(b"]"))


@pytest.mark.rule("A5")
def test_what_was_given_as_json_text_is_sent_on_byte_for_byte(store, new_process_store):
    conversation_id = store.create_conversation()
    text = b'[ {"type":"message",  "role":"user", "content":"spaced", "n": 1.50} ]'
    ask(store, conversation_id, text, "A")
    for reader in (store, new_process_store()):
        assert reader.context(conversation_id).body.startswith(b'[{"type":"message",  "role":"user"')
    assert loads(store.context(conversation_id).body) == store.context(conversation_id).items


@pytest.mark.rule("A6")
def test_a_context_renders_with_its_system_prompt_and_tools(store):
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Q1", "A1", system="Be brief.")
    rendered = store.context(conversation_id, new_items="Q2").render("anthropic")
    assert "Be brief." in json.dumps(rendered["system"])
    assert [message["role"] for message in rendered["messages"]] == ["user", "assistant", "user"]
