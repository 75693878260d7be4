"""Claude.ai exports: messages in an array or linked, calls and results inside one message."""

from __future__ import annotations

import pytest
from import_trees import by_key, check_shape, path_keys

from graphstore.importers import Report, claude_ai


def said(uuid, sender, *blocks, parent=None, **fields):
    content = [{"type": "text", "text": each} if isinstance(each, str) else each for each in blocks]
    linked = {} if parent is None else {"parent_message_uuid": parent}
    return {"uuid": uuid, "sender": sender, "content": content, **linked, **fields}


def _read(*messages, **fields):
    record = {"uuid": "c", "name": "n", "chat_messages": list(messages)} | fields
    conversation = claude_ai.conversation(record, Report(None))
    check_shape(conversation)
    return conversation


def test_without_parent_links_the_array_is_the_thread():
    conversation = _read(said("u", "human", "hi"), said("a", "assistant", "hello"), said("v", "human", "bye"))
    assert path_keys(conversation, conversation.cursor_key) == ["u", "a", "v"]
    assert conversation.cursor_guessed
    assert conversation.report.counts["guessed_leaf"] == 1


@pytest.mark.rule("I2")
def test_parent_links_make_a_tree_whatever_the_order_of_the_array():
    conversation = _read(
        said("b", "assistant", "two", parent="u", created_at="2026-01-01T00:00:02Z"),
        said("u", "human", "q", parent=claude_ai.ROOT, created_at="2026-01-01T00:00:00Z"),
        said("a", "assistant", "one", parent="u", created_at="2026-01-01T00:00:01Z"),
    )
    assert [call.key for call in conversation.calls] == ["a", "b"]
    assert conversation.calls[0].sent == conversation.calls[1].sent
    assert conversation.cursor_key == "b"
    assert conversation.report.counts["orphan"] == 0


@pytest.mark.rule("I2")
def test_the_sources_own_leaf_is_the_cursor():
    conversation = _read(
        said("u", "human", "q", parent=claude_ai.ROOT),
        said("a", "assistant", "one", parent="u"),
        said("b", "assistant", "two", parent="u"),
        current_leaf_message_uuid="a",
    )
    assert (conversation.cursor_key, conversation.cursor_guessed) == ("a", False)


@pytest.mark.rule("I3", "S3")
def test_a_message_with_calls_and_results_is_cut_into_rounds():
    conversation = _read(
        said("u", "human", "q"),
        said(
            "a",
            "assistant",
            {"type": "thinking", "thinking": "hm", "signature": "sig", "summaries": [{"summary": "s"}]},
            {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": 1.5}},
            {"type": "tool_result", "tool_use_id": "t1", "name": "search", "content": [{"type": "text", "text": "r"}]},
            "found it",
            stop_reason="end_turn",
        ),
        said("v", "human", "and?"),
        said("b", "assistant", "done"),
    )
    calls = by_key(conversation)
    assert calls["a"].returned == [
        {"type": "reasoning", "text": "hm", "summary": ["s"], "signature": "sig"},
        {"type": "tool_call", "call_id": "t1", "name": "search", "arguments": '{"q":1.5}'},
    ]
    assert calls["a"].finish_reason == "tool_calls"
    assert calls["a:2"].sent == [{"type": "tool_result", "call_id": "t1", "output": "r"}]
    assert (calls["a:2"].turn_key, calls["a:2"].round, calls["a:2"].finish_reason) == ("a", 1, "stop")
    assert calls["b"].parent_key == "a:2"
    assert conversation.report.counts["unpaired_call"] == conversation.report.counts["unpaired_result"] == 0


def test_calls_without_ids_pair_by_name_and_order():
    conversation = _read(
        said(
            "a",
            "assistant",
            {"type": "tool_use", "id": None, "name": "x", "input": {}},
            {"type": "tool_use", "name": "y", "input": {}},
            {"type": "tool_result", "tool_use_id": None, "name": "y", "content": "ry"},
            {"type": "tool_result", "name": "x", "content": "rx", "is_error": True},
            "end",
        )
    )
    first, second = conversation.calls
    names = {item["call_id"]: item["name"] for item in first.returned}
    assert [names[item["call_id"]] for item in second.sent] == ["y", "x"]
    assert [item.get("is_error") for item in second.sent] == [None, True]


def test_text_stands_in_where_content_says_nothing_and_is_kept_where_it_differs():
    conversation = _read(
        said("u", "human", text="only text"),
        said("a", "assistant", "", text="flat"),
        said("v", "human", "from content", text="flattened otherwise"),
    )
    calls = by_key(conversation)
    assert calls["a"].sent[0]["content"] == "only text"
    assert calls["a"].returned[0]["content"] == "flat"
    last = calls["no_reply:v"]
    assert last.sent[0]["content"] == "from content"
    assert last.metadata["messages"]["v"]["text"] == "flattened otherwise"


def test_attachments_bring_their_extracted_text_and_files_are_listed_once():
    [call] = _read(
        said(
            "u",
            "human",
            "see",
            attachments=[{"file_name": "a.txt", "file_size": 3, "extracted_content": "abc"}],
            files=[{"file_uuid": "f", "file_name": "a.txt"}, {"file_uuid": "g", "file_name": "b.png"}],
        )
    ).calls
    parts = call.sent[0]["content"]
    assert [(part["type"], part.get("filename"), part.get("text")) for part in parts] == [
        ("text", None, "see"),
        ("file", "a.txt", "abc"),
        ("file", "b.png", None),
    ]


@pytest.mark.rule("I4")
def test_unknown_blocks_senders_and_rows_are_kept_raw():
    conversation = _read(
        said("u", "human", "q"),
        said("a", "assistant", {"type": "hologram", "x": 1}),
        said("n", "narrator", "meanwhile"),
        "no object",
    )
    raw = [item["data"] for call in conversation.calls for item in call.sent + call.returned if item["type"] == "raw"]
    assert {"type": "hologram", "x": 1} in raw
    assert any(isinstance(each, dict) and each.get("sender") == "narrator" for each in raw)
    assert {"message": "no object"} in raw
    assert conversation.report.counts["unknown_content"] == 4


@pytest.mark.rule("I4")
def test_an_id_used_twice_loses_no_message():
    once = said("u", "human", "q", parent=claude_ai.ROOT)
    conversation = _read(
        once, once, said("a", "assistant", "one", parent="u"), said("a", "assistant", "two", parent="u")
    )
    assert [call.key for call in conversation.calls] == ["a", "a#2"]
    assert conversation.report.counts["duplicate_id"] == 2


@pytest.mark.rule("I5")
def test_a_message_that_grew_keeps_the_key_of_its_first_round():
    blocks = [{"type": "tool_use", "id": "t", "name": "x", "input": {}}]
    before = _read(said("u", "human", "q"), said("a", "assistant", *blocks))
    after = _read(
        said("u", "human", "q"),
        said("a", "assistant", *blocks, {"type": "tool_result", "tool_use_id": "t", "content": "r"}, "end"),
    )
    assert by_key(after)["a"].returned == by_key(before)["a"].returned
