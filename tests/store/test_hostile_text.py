"""Whatever text comes in is given back exactly (rules S2, A5; jsontext)."""

from __future__ import annotations

import json

import pytest
from conversing import answered, ask, said, tool_call, tool_result, user

from graphstore import errors

TEXTS = {
    "lone surrogates": "high \ud800 low \udfff pair reversed \udc00\ud800",
    "NUL": "before\x00after",
    "controls": "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029\ufeff\ufffe\uffff",
    "emoji": "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿 😀",
    "quotes": "\\\" ' ` ${x} {{y}} \\u0000 \\ud800 // /* */ null [1,2] \x1a",
    "marked": "\x1amarked as if shielded",
    "directions": "\u202egnirts\u202c العربية עברית",
    "nothing": "",
}


@pytest.mark.rule("S2")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_text_comes_back_exactly_wherever_it_stands(store, connected, new_process_store, text):
    metadata = {f"key {text}": text, "list": [text]}
    conversation_id = store.create_conversation(title=text, metadata=metadata)
    with store.turn(conversation_id) as turn:
        turn.call(text, system=text, metadata=metadata).succeed([tool_call(f"id {text}", "f", text)])
        turn.call([tool_result(f"id {text}", text)]).fail("error", text)
    for reader in (store, new_process_store()):
        context = reader.context(conversation_id)
        assert context.items == [user(text), tool_call(f"id {text}", "f", text), tool_result(f"id {text}", text)]
        assert json.loads(context.body) == context.items
        assert context.warnings == []
        assert context.settings.system == text
        conversation = reader.conversation(conversation_id)
        assert (conversation.title, conversation.metadata) == (text, metadata)
        assert reader.list_conversations()[0][0].title == text
        first, last = reader.path(conversation_id)
        assert (first.metadata, first.sent, last.failure.message) == (metadata, [user(text)], text)
    assert store.create_conversation(id=conversation_id, title=text, metadata=metadata) == conversation_id


@pytest.mark.rule("S2")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_text_that_an_edit_brings_in_or_keeps_comes_back_exactly_too(store, text):
    conversation_id = store.create_conversation()
    node_id = ask(store, conversation_id, [user("Q"), {"type": "note", "text": text}], text)
    edited = answered(store.edit(conversation_id, node_id, text), text)
    assert store.node(edited).sent == [user(text), {"type": "note", "text": text}]
    again = answered(store.regenerate(conversation_id), "A")
    assert store.node(again).sent == store.node(edited).sent
    assert store.markers(conversation_id)[0].versions == 2


@pytest.mark.rule("S2", "A5")
@pytest.mark.parametrize(
    "number", ["18446744073709551616", "-170141183460469231731687303715884105728", "1e400", "-1E+400", "1.50", "1.0",
               "0.1", "-0", "-0.0", "1e5", "9007199254740993", "0.30000000000000004", "123456789.123456789123456789"]
)  # fmt: skip
def test_a_number_keeps_its_text(store, new_process_store, number):
    conversation_id = store.create_conversation()
    item = f'{{"type":"reading","value":{number},"list":[{number}]}}'
    node_id = ask(store, conversation_id, f"[{item}]".encode(), f"[{item}]".encode())
    again = answered(store.edit(conversation_id, node_id, {}), "A")
    for reader in (store, new_process_store()):
        assert reader.context(node_id=node_id).body == f"[{item},{item}]".encode()
        assert reader.context(node_id=again).body.startswith(f"[{item},".encode())
        # also where the context has to be parsed, because something is filtered
        filtered = reader.context(node_id=node_id, new_items=[tool_result("ghost")])
        assert filtered.body == f"[{item},{item}]".encode()


@pytest.mark.rule("S2")
@pytest.mark.parametrize("value", [2**64, -(2**200), 2**63, 1.5, 1e-300, 5e-324, 0.1 + 0.2, 1e22, True, None])
def test_a_python_number_comes_back_equal(store, new_process_store, value):
    conversation_id = store.create_conversation(metadata={"value": value})
    items = [{"type": "reading", "value": value, "deep": [{"value": value}]}]
    ask(store, conversation_id, items, items, metadata={"value": value})
    reader = new_process_store()
    assert reader.context(conversation_id).items == items * 2
    assert type(reader.context(conversation_id).items[0]["value"]) is type(value)
    assert reader.conversation(conversation_id).metadata == {"value": value}
    assert reader.path(conversation_id)[0].metadata == {"value": value}


@pytest.mark.rule("S2")
def test_the_order_of_keys_is_kept(store, new_process_store):
    item = {"type": "x", "b": 1, "a": {"z": 1, "y": 2}, "content": None, "0": 0}
    conversation_id = store.create_conversation()
    ask(store, conversation_id, [item], "A")
    read = new_process_store().context(conversation_id).items[0]
    assert json.dumps(read) == json.dumps(item)


@pytest.mark.rule("S2")
def test_strings_of_five_megabytes_come_back(store, new_process_store):
    text = "5 MB of ünïcödé 😀 " * 250_000
    conversation_id = store.create_conversation()
    ask(store, conversation_id, text, [tool_call("c1", arguments=json.dumps({"text": text}))])
    ask(store, conversation_id, [tool_result("c1", text)], "A")
    context = new_process_store().context(conversation_id)
    assert said(context) == [text, "A"]
    assert context.items[2]["output"] == text
    assert json.loads(context.items[1]["arguments"])["text"] == text


@pytest.mark.rule("S2")
def test_json_nested_beyond_what_can_be_written_is_refused_by_name(store):
    deep = b'[{"type":"x","v":' + b"[" * 400 + b"]" * 400 + b"}]"
    conversation_id = store.create_conversation(id="c")
    for items in (deep, b"[" * 100_000):
        with pytest.raises(errors.InvalidInput, match=r"JSON"):
            store.turn(conversation_id).call(items)
    assert store.tree(conversation_id) == []
