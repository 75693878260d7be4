"""Real and public sample files: every one is read, and every path says what its source's path says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from import_trees import check_shape, path_items, path_keys, source_paths

from graphstore.errors import SourceUnreadable
from graphstore.importers import detect, read

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT.parent / "shared" / "samples"
FILES = [
    path
    for folder in ("chatgpt", "claude_ai", "oasst", "openai_jsonl", "openwebui", "librechat")
    for path in sorted((SAMPLES / folder).glob("*"))
]
DEMO = ROOT / "graphstore" / "cli" / "demo" / "conversations.json"


def _records(path):
    text = path.read_text()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    value = json.loads(text)
    return value if isinstance(value, list) else [value]


def _links(record):
    """The source's own tree: message id to parent id, for those that hold a message."""
    if "mapping" in record:
        nodes = {node["id"]: node for node in record["mapping"].values()}

        def above(key):
            parent = nodes[key]["parent"]
            return parent if parent is None or nodes[parent]["message"] is not None else above(parent)

        return {key: above(key) for key, node in nodes.items() if node["message"] is not None}
    chat = record.get("chat", record)
    if "history" in chat:
        return {key: message["parentId"] for key, message in chat["history"]["messages"].items()}
    if "chat_messages" in record:
        messages = record["chat_messages"]
        ids = [message.get("uuid", f"message-{number}") for number, message in enumerate(messages)]
        linked = any("parent_message_uuid" in message for message in messages)
        before = [None, *ids[:-1]]
        return {
            key: message.get("parent_message_uuid") if linked else before[number]
            for number, (key, message) in enumerate(zip(ids, messages, strict=True))
        }
    if "conversationId" in record:
        links = {}
        stack = [(message, None) for message in record["messages"]]
        while stack:
            row, around = stack.pop()
            linked = None if str(row["parentMessageId"]).startswith("00000000") else row["parentMessageId"]
            links[row["messageId"]] = around or linked
            stack.extend((child, row["messageId"]) for child in row.get("children", []))
        return links
    if "prompt" in record:
        links = {}
        stack = [(record["prompt"], None)]
        while stack:
            row, parent = stack.pop()
            links[row["message_id"]] = parent
            stack.extend((child, row["message_id"]) for child in row["replies"])
        return links
    return None


@pytest.mark.skipif(not FILES, reason="the sample files are not beside the repository")
@pytest.mark.rule("I1", "I2", "I3", "I4")
@pytest.mark.parametrize("path", [*FILES, DEMO], ids=lambda path: path.name)
def test_every_sample_is_read_path_by_path(path):
    records, conversations = _records(path), list(read(path))
    assert len(records) == len(conversations)
    assert {each.source for each in conversations} == {detect(path)}
    for record, conversation in zip(records, conversations, strict=True):
        check_shape(conversation)
        if conversation.report.skipped:
            assert "mapping" not in record
            continue
        links = _links(record)
        if links is None:
            turns = record.get("messages") or record["conversations"]
            said = [each.get("content", each.get("value")) for each in turns]
            assert [item["content"] for item in path_items(conversation, conversation.cursor_key)] == said
            continue
        ends = {}
        for call in conversation.calls:  # a message that holds several calls ends with its last piece
            ends |= dict.fromkeys((call.returned_keys or call.sent_keys)[-1].split(":")[:1], call.key)
        for leaf, keys in source_paths(links).items():
            assert [key for key in path_keys(conversation, ends[leaf]) if key in links] == keys
        pointer = record.get("current_node") or record.get("current_leaf_message_uuid")
        if pointer is not None:
            assert path_keys(conversation, conversation.cursor_key)[-1] == pointer
            assert not conversation.cursor_guessed


@pytest.mark.skipif(not (SAMPLES / "responses").exists(), reason="the sample files are not there")
@pytest.mark.rule("I1")
def test_sample_responses_come_whole():
    paths = sorted((SAMPLES / "responses").glob("*"))
    for path in paths:
        [conversation] = read(path)
        check_shape(conversation)
        [call] = conversation.calls
        assert len(call.returned) == len(json.loads(path.read_text())["output"])
        assert call.usage["input_tokens"] > 0


@pytest.mark.skipif(not (SAMPLES / "codex").exists(), reason="the sample files are not there")
@pytest.mark.rule("I1", "I4")
@pytest.mark.parametrize(("folder", "calls", "compactions"), [("claude_code", 19, 2), ("codex", 7, 1)])
def test_sample_sessions_come_with_every_message(folder, calls, compactions):
    conversations = list(read(SAMPLES / folder))
    for conversation in conversations:
        check_shape(conversation)
        assert conversation.report.skipped is None
        assert conversation.source == folder
    found = [call for conversation in conversations for call in conversation.calls]
    assert (len(found), sum(call.compacts_key is not None for call in found)) == (calls, compactions)


@pytest.mark.skipif(not (SAMPLES / "gemini_aistudio").exists(), reason="the sample files are not there")
@pytest.mark.rule("I1")
def test_sample_prompt_keeps_both_answers():
    [conversation] = read(next((SAMPLES / "gemini_aistudio").glob("*")))
    check_shape(conversation)
    first, second = conversation.calls
    assert first.sent == second.sent
    assert path_keys(conversation, conversation.cursor_key)[-1] == "chunk-error-1"


UNKNOWN = [path for folder in ("langgraph",) for path in sorted((SAMPLES / folder).glob("*"))]


@pytest.mark.skipif(not UNKNOWN, reason="the sample files are not there")
@pytest.mark.rule("I1")
@pytest.mark.parametrize("path", UNKNOWN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_source_that_is_not_known_is_not_taken_for_another(path):
    with pytest.raises(SourceUnreadable, match=r"no known format.*known are chatgpt"):
        read(path)


@pytest.mark.rule("I3")
def test_the_demos_export_tells_its_story():
    story, _ = read(DEMO)
    questions = [
        item["content"] for call in story.calls if call.round == 0 for item in call.sent if item.get("role") == "user"
    ]
    assert "overseas subsidiaries" in questions[1]
    assert story.report.counts["unpaired_call"] == story.report.counts["unpaired_result"] == 0
    accepted = path_items(story, story.cursor_key)
    assert not any("412.6 million**" in str(item.get("content")) for item in accepted)
    assert {call.model for call in story.calls} == {"gpt-5-thinking"}
    starts = [(call.parent_key, str(call.sent)) for call in story.calls if call.round == 0]
    assert len(starts) == 6
    assert len({parent for parent, _ in starts}) == 3
    assert len(set(starts)) == 4
