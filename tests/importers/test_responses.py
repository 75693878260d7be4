"""OpenAI Responses: a tree by predecessors, inputs beside them, states of unfinished and failed ones."""

from __future__ import annotations

import json

import pytest
from import_trees import by_key, check_shape, path_items

from graphstore.importers import read

pytestmark = pytest.mark.rule("I1", "I4")


def text(said):
    return {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": said}]}


def response(key, previous=None, output=None, at=1_700_000_000, **fields):
    body = {"id": key, "object": "response", "created_at": at, "status": "completed", "model": "gpt-5"}
    return (
        body | {"previous_response_id": previous, "output": [text(f"by {key}")] if output is None else output} | fields
    )


def imported(tmp_path, *records):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in records))
    conversations = list(read(path))
    for conversation in conversations:
        check_shape(conversation)
    return conversations


@pytest.mark.rule("I2", "I3")
def test_two_responses_to_one_predecessor_are_siblings_in_any_order(tmp_path):
    records = [
        response("r3", "r1", at=1_700_000_003, input="again?"),
        response("r1", input=[{"role": "user", "content": "hi"}], instructions="Be kind.", tools=[]),
        response("r2", "r1", at=1_700_000_002, input="more?"),
        response("s1", input="other"),
    ]
    one, other = imported(tmp_path, *records)
    assert [(call.key, call.parent_key) for call in one.calls] == [("r1", None), ("r2", "r1"), ("r3", "r1")]
    assert (one.source_id, one.cursor_key, one.cursor_guessed) == ("r1", "r3", True)
    assert [call.system_prompt for call in one.calls] == ["Be kind.", None, None]
    assert other.source_id == "s1"
    assert [item["content"] for item in path_items(one, "r2") if item["role"] == "user"] == ["hi", "more?"]


@pytest.mark.rule("I3")
def test_outputs_of_tools_are_the_next_round_of_the_turn(tmp_path):
    call = {"type": "function_call", "id": "f", "call_id": "c1", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    records = [response("r1", input="hi", output=[call]), response("r2", "r1", input=[result])]
    [conversation] = imported(tmp_path, *records)
    first, second = conversation.calls
    assert (first.finish_reason, second.finish_reason) == ("tool_calls", "stop")
    assert (second.turn_key, second.round) == ("r1", 1)
    assert (second.response_id, second.provider) == ("r2", "openai")


def test_a_missing_predecessor_still_makes_siblings(tmp_path):
    [conversation] = imported(tmp_path, response("r2", "gone", input="a"), response("r3", "gone", input="b"))
    assert conversation.source_id == "gone"
    assert [call.parent_key for call in conversation.calls] == [None, None]
    assert conversation.report.counts["orphan"] == 2


def test_a_ring_of_predecessors_is_cut(tmp_path):
    [conversation] = imported(tmp_path, response("r1", "r2"), response("r2", "r1"))
    assert len(conversation.calls) == 2
    assert conversation.report.counts["cycle"] == 1


def test_inputs_are_found_beside_in_the_request_and_in_batches(tmp_path):
    listed = {"data": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "1"}]}]}
    records = [
        {"request": {"input": "0", "instructions": "sys"}, "response": response("r0")},
        response("r1", input_items=listed),
        {"custom_id": "x", "response": {"status_code": 200, "body": response("r2")}},
    ]
    first, second, third = imported(tmp_path, *records)
    assert first.calls[0].sent[0]["content"] == "0"
    assert first.calls[0].system_prompt == "sys"
    assert second.calls[0].sent[0]["content"][0]["text"] == "1"
    assert third.report.counts["input_missing"] == 1


def test_a_conversation_of_the_api_is_one_line(tmp_path):
    held = {"conversation": {"id": "conv_1"}}
    later, sooner = response("r2", at=1_700_000_005, **held), response("r1", **held)
    [conversation] = imported(tmp_path, later, sooner)
    assert conversation.source_id == "conv_1"
    assert [call.parent_key for call in conversation.calls] == [None, "r1"]


@pytest.mark.parametrize(
    ("fields", "status", "finish", "kind"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "succeeded", "length", None),
        ({"status": "cancelled"}, "succeeded", "cancelled", None),
        ({"status": "failed", "error": {"message": "boom"}}, "failed", None, "error"),
        ({"status": "queued", "output": []}, "failed", None, "no_reply"),
    ],
)
def test_states_that_are_not_completed(tmp_path, fields, status, finish, kind):
    record = response("r1", input="hi") | fields
    [conversation] = imported(tmp_path, record)
    [call] = conversation.calls
    assert (call.status, call.finish_reason, call.failure_kind) == (status, finish, kind)


@pytest.mark.rule("I4")
def test_bad_records_and_repeated_ones_are_named_and_the_rest_is_read(tmp_path):
    conversations = imported(
        tmp_path, response("r1", input="hi"), "{", {"id": 3.5}, response("r1"), response("r2", output=[5])
    )
    skipped = [each.report.skipped for each in conversations if each.report.skipped]
    assert len(skipped) == 3
    assert [each.source_id for each in conversations if not each.report.skipped] == ["r1", "r2"]
    assert conversations[-1].calls[0].returned[0]["data"] == 5


@pytest.mark.rule("I5")
def test_importing_again_adds_nothing_and_a_finished_one_becomes_the_cursor(store, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(response("r1", input="hi", status="in_progress", output=[])))
    [first] = store.import_file(path)
    path.write_text(json.dumps(response("r1", input="hi", usage={"input_tokens": 3, "output_tokens": -1})))
    [second] = store.import_file(path)
    [third] = store.import_file(path)
    assert (first.nodes_added, second.nodes_added, third.nodes_added) == (1, 1, 0)
    node = store.node(store.conversation(second.conversation_id).cursor)
    assert (node.status.value, node.response_id, node.usage.input_tokens) == ("succeeded", "r1", 3)
    assert by_key(next(iter(read(path))))["r1"].usage == {"input_tokens": 3}
