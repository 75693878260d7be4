"""ShareGPT rows: every spelling of the roles, turns that are none, calls as text, two outcomes."""

from __future__ import annotations

import json

import pytest
from import_trees import check_shape, path_items

from graphstore.importers import detect, read

pytestmark = pytest.mark.rule("I1", "I4")

TURNS = [{"from": "human", "value": "why?"}, {"from": "gpt", "value": "because"}]


def _import(tmp_path, *rows, as_array=False):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(rows) if as_array else "".join(json.dumps(row) + "\n" for row in rows))
    conversations = list(read(path))
    for conversation in conversations:
        check_shape(conversation)
        assert conversation.source == "sharegpt"
    return conversations


def _said(conversation):
    items = path_items(conversation, conversation.cursor_key)
    return [(item["role"], item["content"]) for item in items if item["type"] == "message"]


@pytest.mark.parametrize("as_array", [False, True])
def test_a_row_is_read_with_its_system_prompt_and_its_id(tmp_path, as_array):
    [conversation, _] = _import(
        tmp_path,
        {"id": "r1", "conversations": TURNS, "system": "Be brief."},
        {"conversations": TURNS},
        as_array=as_array,
    )
    assert _said(conversation) == [("user", "why?"), ("assistant", "because")]
    assert conversation.calls[0].system_prompt == "Be brief."
    assert conversation.metadata["id"] == "r1"
    assert not conversation.cursor_guessed


@pytest.mark.parametrize(
    ("asked", "answered"), [("human", "gpt"), ("user", "assistant"), ("Human", "chatgpt"), ("user", "model")]
)
@pytest.mark.parametrize("names", [("from", "value"), ("role", "content")])
def test_every_spelling_of_the_roles_is_understood(tmp_path, asked, answered, names):
    turns = [dict(zip(names, pair, strict=True)) for pair in ((asked, "1"), (answered, "2"))]
    [conversation] = _import(tmp_path, {"conversations": turns})
    assert _said(conversation) == [("user", "1"), ("assistant", "2")]
    assert not conversation.report.counts["unknown_content"]


def test_a_row_that_the_model_begins_and_empty_turns_are_kept(tmp_path):
    turns = [{"from": "gpt", "value": "hello"}, {"from": "human", "value": ""}, {"from": "gpt", "value": "?"}]
    [conversation] = _import(tmp_path, {"conversations": turns})
    assert _said(conversation) == [("assistant", "hello"), ("user", ""), ("assistant", "?")]


def test_turns_that_are_none_stay_raw_and_rows_that_are_none_are_skipped_by_name(tmp_path):
    good, odd = {"conversations": TURNS}, {"conversations": [*TURNS, 7, {"from": "ghost", "value": "boo"}]}
    first, second, third, last = _import(tmp_path, good, odd, 5, {"conversations": []})
    assert first.report.skipped is None
    assert second.report.counts["unknown_content"] == 2
    assert [item["data"] for item in path_items(second, second.cursor_key)[2:]] == [
        7,
        {"from": "ghost", "value": "boo"},
    ]
    assert third.report.skipped == "it is no object but '5'"
    assert last.report.skipped == "it has no turns"


@pytest.mark.rule("I3")
def test_calls_written_as_json_and_their_observations_pair(tmp_path):
    turns = [
        TURNS[0],
        {"from": "function_call", "value": '[{"name": "f", "arguments": {"x": 1}}, {"name": "g", "arguments": "{}"}]'},
        {"from": "observation", "value": "one"},
        {"from": "observation", "value": "two"},
        TURNS[1],
    ]
    tools = json.dumps([{"name": "f", "description": "d", "parameters": {"type": "object"}}])
    [conversation] = _import(tmp_path, {"conversations": turns, "tools": tools})
    first, second = conversation.calls
    assert [(item["name"], json.loads(item["arguments"])) for item in first.returned] == [("f", {"x": 1}), ("g", {})]
    assert [item["output"] for item in second.sent] == ["one", "two"]
    assert [item["call_id"] for item in second.sent] == [item["call_id"] for item in first.returned]
    assert (second.turn_key, second.round) == (first.key, 1)
    assert first.tools[0]["name"] == "f"
    assert not conversation.report.counts["unpaired_call"]


def test_a_call_that_is_no_json_stays_what_the_model_said(tmp_path):
    [conversation] = _import(tmp_path, {"conversations": [TURNS[0], {"from": "function_call", "value": "f(1)"}]})
    assert _said(conversation)[1] == ("assistant", "f(1)")


@pytest.mark.rule("I3")
def test_chosen_and_rejected_are_siblings_with_the_chosen_one_current(tmp_path):
    row = {"conversations": TURNS[:1], "chosen": TURNS[1], "rejected": {"from": "gpt", "value": "no idea"}}
    [conversation] = _import(tmp_path, row)
    good, bad = conversation.calls
    assert good.sent == bad.sent
    assert conversation.cursor_key == good.key
    assert bad.returned[0]["content"] == "no idea"


@pytest.mark.rule("I5")
def test_rows_numbered_alike_in_two_data_sets_are_two_conversations(tmp_path):
    [one] = _import(tmp_path, {"id": 0, "conversations": TURNS})
    [other] = _import(tmp_path, {"id": 0, "conversations": [{"from": "human", "value": "who?"}, TURNS[1]]})
    [longer] = _import(tmp_path, {"id": 0, "conversations": [*TURNS, *TURNS]})
    assert one.source_id != other.source_id
    assert one.source_id == longer.source_id
    assert longer.calls[0].key == one.calls[0].key


def test_it_is_not_taken_for_another_format(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"conversations": TURNS}, indent=1))
    assert detect(path) == "sharegpt"


@pytest.mark.rule("I5")
def test_importing_it_again_adds_nothing(store, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"conversations": TURNS}) + "\n" + json.dumps({"conversations": TURNS, "id": 2}))
    assert [outcome.nodes_added for outcome in store.import_file(path)] == [1, 1]
    assert [outcome.nodes_added for outcome in store.import_file(path)] == [0, 0]
