"""llama.cpp's web UI: sessions of linked messages, with or without a pointer."""

from __future__ import annotations

import json

import pytest
from import_trees import by_key, check_shape, path_items, path_keys

from graphstore.importers import detect, read

pytestmark = pytest.mark.rule("I1", "I4")


def message(key, parent, role="user", said=None, children=(), at=1_700_000_000_000, **fields):
    body = {"id": key, "convId": "c1", "parent": parent, "children": list(children), "role": role, "type": "text"}
    return {"type": "message", "message": body | {"timestamp": at, "content": said or f"text of {key}"} | fields}


ROOT = message("r", None, "system", "", ["q"], type="root")
TREE = [ROOT, message("q", "r", children=["a", "b"]), message("a", "q", "assistant"), message("b", "q", "assistant")]


def session(current, key="c1"):
    return {"type": "session", "id": key, "name": "t", "lastModified": 1_700_000_000_123, "currNode": current}


def imported(tmp_path, *rows):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    assert detect(path) == "llamacpp"
    conversations = list(read(path))
    for conversation in conversations:
        check_shape(conversation)
    return conversations


@pytest.mark.rule("I2", "I3")
def test_both_answers_are_siblings_and_the_pointer_is_kept(tmp_path):
    [conversation] = imported(tmp_path, session("a"), *TREE)
    assert path_keys(conversation, "a") == ["q", "a"]
    assert path_keys(conversation, "b") == ["q", "b"]
    assert (conversation.cursor_key, conversation.cursor_guessed) == ("a", False)
    assert conversation.updated_at.timestamp() == 1_700_000_000.123


@pytest.mark.rule("I2")
@pytest.mark.parametrize("current", ["", "gone", None])
def test_without_a_pointer_the_newest_leaf_is_guessed(tmp_path, current):
    newer = message("b", "q", "assistant", at=1_700_000_009_000)
    [conversation] = imported(tmp_path, session(current), *TREE[:3], newer)
    assert (conversation.cursor_key, conversation.cursor_guessed) == ("b", True)
    assert conversation.report.counts["dangling_pointer"] == (current == "gone")


def test_sessions_of_one_file_are_conversations_and_objects_with_messages_too(tmp_path):
    other = {"conv": {"id": "c2", "name": "u", "currNode": "a"}, "messages": [row["message"] for row in TREE]}
    first, second = imported(tmp_path, session("b"), *TREE, other)
    assert [each.source_id for each in (first, second)] == ["c1", "c2"]
    assert [each.cursor_key for each in (first, second)] == ["b", "a"]


def test_reasoning_tools_and_attachments(tmp_path):
    calls = json.dumps([{"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}])
    extra = [
        {"type": "imageFile", "name": "i.png", "base64Url": "data:image/png;base64,AAAA"},
        {"type": "textFile", "name": "n.txt", "content": "inside"},
        {"type": "hologram"},
    ]
    rows = [
        ROOT,
        message("q", "r", extra=extra),
        message("a", "q", "assistant", thinking="hm", toolCalls=calls, model="qwen"),
        message("t", "a", "tool", "found", toolCallId="t"),
        message("b", "t", "assistant"),
    ]
    [conversation] = imported(tmp_path, session("b"), *rows)
    items = path_items(conversation, "b")
    assert [part["type"] for part in items[0]["content"]] == ["text", "image", "file", "raw"]
    assert [item["type"] for item in items[1:]] == ["reasoning", "message", "tool_call", "tool_result", "message"]
    assert by_key(conversation)["a"].model == "qwen"
    assert not conversation.report.counts["unpaired_call"]


@pytest.mark.rule("I4", "I6")
def test_bad_lines_are_named_and_the_rest_is_read(tmp_path):
    odd = message("z", "q", "ghost")
    no_json = message("a", "q", "assistant", toolCalls="{")
    [conversation] = imported(tmp_path, session("a"), *TREE[:2], "{", "7", {"type": "x"}, no_json, TREE[3], odd)
    assert path_keys(conversation, "b") == ["q", "b"]
    assert conversation.report.counts["damaged"] == 2
    assert conversation.report.counts["unknown_content"] == 3
    [empty] = imported(tmp_path, session(""))
    assert empty.report.skipped == "it has no messages"


@pytest.mark.rule("I5")
def test_importing_it_again_adds_nothing(store, tmp_path):
    imported(tmp_path, session("a"), *TREE)
    added = [[outcome.nodes_added for outcome in store.import_file(tmp_path / "x.jsonl")] for _ in range(2)]
    assert added == [[2], [0]]
