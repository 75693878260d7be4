"""OpenAI chat rows: linear rows and preference rows, ids made from content."""

from __future__ import annotations

import json

import pytest
from import_trees import by_key, check_shape, path_items

from graphstore.errors import SourceUnreadable
from graphstore.importers import read

SYSTEM = {"role": "system", "content": "be brief"}
QUESTION = {"role": "user", "content": "why?"}
ANSWER = {"role": "assistant", "content": "because"}


def _import(tmp_path, *rows, as_array=False):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(rows) if as_array else "".join(json.dumps(row) + "\n" for row in rows))
    conversations = list(read(path))
    for conversation in conversations:
        check_shape(conversation)
    return conversations


def test_a_row_is_read_the_same_as_a_line_and_in_an_array(tmp_path):
    rows = [{"messages": [SYSTEM, QUESTION, ANSWER]}, {"messages": [QUESTION, ANSWER]}]
    lines, array = _import(tmp_path, *rows), _import(tmp_path, *rows, as_array=True)
    assert [each.source_id for each in lines] == [each.source_id for each in array]
    assert path_items(lines[0], lines[0].cursor_key) == [
        {"type": "message", "role": "system", "content": "be brief"},
        {"type": "message", "role": "user", "content": "why?"},
        {"type": "message", "role": "assistant", "content": "because"},
    ]
    assert not lines[0].cursor_guessed


def test_tool_calls_with_null_content_and_their_results_make_rounds(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    [conversation] = _import(
        tmp_path,
        {
            "messages": [
                QUESTION,
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "42"},
                ANSWER,
            ],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
            "parallel_tool_calls": False,
        },
    )
    first, second = conversation.calls
    assert first.returned == [{"type": "tool_call", "call_id": "c1", "name": "f", "arguments": '{"x": 1}'}]
    assert second.sent == [{"type": "tool_result", "call_id": "c1", "output": "42"}]
    assert (second.turn_key, second.round) == (first.key, 1)
    assert first.tools is not None
    assert first.tools[0]["name"] == "f"
    assert conversation.metadata == {"parallel_tool_calls": False}


def test_legacy_function_calls_pair_by_name(tmp_path):
    [conversation] = _import(
        tmp_path,
        {
            "messages": [
                QUESTION,
                {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": "1"},
                ANSWER,
            ]
        },
    )
    assert conversation.report.counts["unpaired_call"] == conversation.report.counts["unpaired_result"] == 0


@pytest.mark.rule("I5")
def test_importing_again_finds_the_same_ids_and_a_longer_row_only_adds(tmp_path):
    more = [{"role": "user", "content": "really?"}, {"role": "assistant", "content": "yes"}]
    row, other = {"messages": [SYSTEM, QUESTION, ANSWER]}, {"messages": [QUESTION, ANSWER]}
    before = _import(tmp_path, row, other, row)
    after = _import(tmp_path, {"messages": [SYSTEM, QUESTION, ANSWER, *more]}, other, row, other)
    assert [each.source_id for each in after[:3]] == [each.source_id for each in before]
    assert len({each.source_id for each in after}) == 4
    assert set(by_key(before[0])) < set(by_key(after[0]))
    kept = before[0].calls[0]
    assert by_key(after[0])[kept.key] == kept


def test_a_given_id_is_the_source_id(tmp_path):
    assert _import(tmp_path, {"id": "r1", "messages": [QUESTION]})[0].source_id == "r1"


@pytest.mark.rule("I2", "I3")
def test_a_preference_row_is_two_siblings_with_the_cursor_on_the_preferred_one(tmp_path):
    [conversation] = _import(
        tmp_path,
        {
            "input": {"messages": [SYSTEM, QUESTION], "tools": []},
            "preferred_output": [ANSWER],
            "non_preferred_output": [{"role": "assistant", "content": "no idea"}],
        },
    )
    good, bad = conversation.calls
    assert good.sent == bad.sent
    assert (good.returned[0]["content"], bad.returned[0]["content"]) == ("because", "no idea")
    assert conversation.cursor_key == good.key
    assert not conversation.cursor_guessed


@pytest.mark.rule("I4")
def test_odd_rows_and_messages_never_stop_the_rest(tmp_path):
    path = tmp_path / "odd.jsonl"
    rows = [
        {"messages": [QUESTION, {"role": "assistant", "content": 5}]},
        {"messages": [QUESTION, "text", {"content": "no role"}]},
        7,
        {"messages": []},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    found = list(read(path))
    assert [each.report.skipped for each in found] == [None, None, "it is no object but '7'", "it has no messages"]
    assert found[1].report.counts["unknown_content"] == 2


@pytest.mark.rule("I1")
@pytest.mark.parametrize(
    "links",
    [
        {"parentId": None, "childrenIds": ["m2"], "models": ["gpt-4o"], "timestamp": 1730000000},
        {"parentMessageId": "00000000-0000-0000-0000-000000000000"},
        {"children": []},
    ],
)
def test_messages_linked_as_a_tree_are_another_programs(tmp_path, links):
    chat = {"id": "c", "title": "t", "messages": [QUESTION | {"id": "m1"} | links, ANSWER | {"id": "m2"}]}
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(chat))
    with pytest.raises(SourceUnreadable, match=r"no known format.*linked as a tree.*known are chatgpt"):
        read(path)
    [named] = read(path, format="openai_jsonl")
    assert named.calls == []
    assert "another program's tree" in named.report.skipped
