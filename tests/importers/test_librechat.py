"""LibreChat: nested or flat, several roots, empty messages that hold a subtree, answers that are several calls."""

from __future__ import annotations

import json

import pytest
from import_trees import by_key, check_shape, imported, path_items, path_keys

pytestmark = pytest.mark.rule("I1", "I4")

ROOT = "00000000-0000-0000-0000-000000000000"


def message(key, parent=ROOT, said=None, children=None, **fields):
    asked = key.startswith("q")
    entry = {"messageId": key, "parentMessageId": parent, "isCreatedByUser": asked, "sender": "User" if asked else "AI"}
    entry |= {"text": f"text of {key}" if said is None else said, "model": None if asked else "gpt-4o"}
    return entry | ({} if children is None else {"children": children}) | fields


def export(messages, holder="messages", **fields):
    return {"conversationId": "c1", "endpoint": "openAI", "title": "t", "branches": True, holder: messages} | fields


def read(tmp_path, value):
    conversation = imported(tmp_path, value)
    check_shape(conversation)
    assert conversation.source == "librechat"
    return conversation


FLAT = [
    message("q1"),
    message("a1", "q1"),
    message("a2", "q1"),
    message("q2", "a1"),
    message("a3", "q2", createdAt="2026-01-01T00:00:00.000Z"),
]
NESTED = [
    message(
        "q1",
        children=[
            message(
                "a1",
                "q1",
                children=[message("q2", "a1", children=[message("a3", "q2", createdAt="2026-01-01T00:00:00.000Z")])],
            )
        ],
    ),
]
NESTED[0]["children"].append(message("a2", "q1", children=[]))


@pytest.mark.rule("I2")
@pytest.mark.parametrize(
    "value",
    [export(FLAT), export(FLAT[::-1]), export(NESTED, recursive=True), export(NESTED, "messagesTree", recursive=True)],
    ids=["flat", "children first", "nested under messages", "messagesTree"],
)
def test_every_shape_gives_the_same_tree(tmp_path, value):
    conversation = read(tmp_path, value)
    assert path_keys(conversation, "a3") == ["q1", "a1", "q2", "a3"]
    assert path_keys(conversation, "a2") == ["q1", "a2"]
    assert by_key(conversation)["a1"].sent == by_key(conversation)["a2"].sent
    assert {call.model for call in conversation.calls} == {"gpt-4o"}
    assert {call.provider for call in conversation.calls} == {"openai"}
    assert conversation.cursor_guessed
    assert not conversation.report.counts["orphan"]


@pytest.mark.rule("I3")
def test_an_edited_first_question_is_a_second_root_and_a_sibling(tmp_path):
    conversation = read(tmp_path, export([message("q1"), message("a1", "q1"), message("q2"), message("a2", "q2")]))
    assert [(call.key, call.parent_key) for call in conversation.calls] == [("a1", None), ("a2", None)]
    assert conversation.report.counts["several_roots"] == 1


@pytest.mark.rule("I2")
def test_an_export_of_the_shown_path_ends_at_the_active_leaf(tmp_path):
    conversation = read(tmp_path, export(FLAT[:2], branches=False))
    assert (conversation.cursor_key, conversation.cursor_guessed) == ("a1", False)


def test_an_empty_message_keeps_its_place_and_what_is_below_it(tmp_path):
    conversation = read(tmp_path, export([message("q1", said="", children=[message("a1", "q1")])]))
    assert path_keys(conversation, "a1") == ["q1", "a1"]


def test_a_parent_that_was_only_a_placeholder_is_found(tmp_path):
    conversation = read(tmp_path, export([message("q1"), message("a1", "q1_")]))
    assert path_keys(conversation, "a1") == ["q1", "a1"]
    assert conversation.report.counts["orphan"] == 1


def test_an_unknown_parent_begins_a_branch_and_nothing_is_lost(tmp_path):
    conversation = read(tmp_path, export([*FLAT, message("q9", "gone"), message("a9", "q9")]))
    assert path_keys(conversation, "a9") == ["q9", "a9"]
    assert conversation.report.counts["orphan"] == 1


def test_messages_without_any_links_are_a_line(tmp_path):
    bare = [message(key) for key in ("q1", "a1", "q2", "a2")]
    for each in bare:
        del each["parentMessageId"]
    assert path_keys(read(tmp_path, export(bare)), "a2") == ["q1", "a1", "q2", "a2"]


@pytest.mark.rule("I3")
def test_thoughts_tool_calls_and_text_of_one_answer_become_rounds(tmp_path):
    content = [
        {"type": "think", "think": "hm"},
        {"type": "tool_call", "tool_call": {"id": "t1", "name": "search", "args": '{"q":1}', "output": "found"}},
        {"type": "text", "text": {"value": "It is there."}},
    ]
    conversation = read(tmp_path, export([message("q1"), message("a1", "q1", "", content=content)]))
    first, second = conversation.calls
    assert [item["type"] for item in first.returned] == ["reasoning", "tool_call"]
    assert second.sent == [{"type": "tool_result", "call_id": "t1", "output": "found"}]
    assert second.returned[0]["content"] == "It is there."
    assert (second.turn_key, second.round) == ("a1", 1)
    assert not conversation.report.counts["unpaired_call"]


def test_a_failed_answer_is_a_failed_call_and_an_unfinished_one_says_so(tmp_path):
    said = [message("q1"), message("a1", "q1", "no quota", error=True), message("a2", "q1", unfinished=True)]
    calls = by_key(read(tmp_path, export(said)))
    assert (calls["a1"].status, calls["a1"].failure_message) == ("failed", "no quota")
    assert calls["a2"].finish_reason == "incomplete"


def test_the_system_prompt_files_and_fields_are_kept(tmp_path):
    files = [{"file_id": "f", "filename": "a.txt", "text": "inside", "type": "text/plain"}]
    value = export(
        [message("q1", files=files), message("a1", "q1", isEdited=True)], options={"promptPrefix": "Be kind."}
    )
    call = read(tmp_path, value).calls[0]
    assert call.system_prompt == "Be kind."
    assert call.sent[0]["content"][1]["filename"] == "a.txt"
    assert call.sent[0]["content"][1]["text"] == "inside"
    assert call.metadata["messages"]["a1"]["isEdited"] is True


def test_parts_and_messages_of_unknown_kinds_are_kept_or_named(tmp_path):
    odd = {"type": "hologram", "hologram": 1}
    conversation = read(tmp_path, export([message("q1"), message("a1", "q1", "", content=[odd]), 5]))
    assert path_items(conversation, "a1")[1]["data"] == odd
    assert conversation.report.counts["unknown_content"] == 2


def test_an_export_without_messages_is_skipped_by_name(tmp_path):
    conversation = imported(tmp_path, export([]))
    assert conversation.report.skipped == "it has no messages"


@pytest.mark.rule("I5")
def test_importing_it_again_adds_nothing_and_a_longer_one_only_what_is_new(store, tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(export(FLAT[:3])))
    [first] = store.import_file(path)
    [again] = store.import_file(path)
    path.write_text(json.dumps(export(NESTED, recursive=True)))
    [longer] = store.import_file(path)
    assert (first.nodes_added, again.nodes_added, longer.nodes_added) == (2, 0, 1)
    assert longer.cursor_moved
