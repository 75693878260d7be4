"""Responses: input and output texts, reasoning given back, unknown items kept raw (rule A6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphstore.errors import InvalidInput
from graphstore.rendering import parse, render

pytestmark = pytest.mark.rule("A6")

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples" / "responses"


def sent(*items: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = render(list(items), "openai-responses", **options)["input"]
    return found


def test_a_response_is_sent_back_as_it_came() -> None:
    output = [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "s"}],
            "encrypted_content": "E",
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": None}},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "looking", "annotations": [], "logprobs": []}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}", "status": "completed"},
    ]
    parsed = parse({"object": "response", "id": "r", "output": output, "instructions": "s"}, "openai-responses")
    assert [item["type"] for item in parsed.items] == ["reasoning", "raw", "message", "tool_call"]
    assert parsed.items[2]["content"][0]["text"] == "looking"
    assert sent(*parsed.items) == output


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples folder is not there")
def test_recorded_responses_are_sent_back_as_they_came() -> None:
    files = sorted(SAMPLES.glob("*.json"))
    assert files
    for file in files:
        response = json.loads(file.read_text())
        assert sent(*parse(response, "openai-responses").items) == response["output"]


def test_the_assistant_speaks_output_text_and_others_input_text() -> None:
    found = sent(
        {"role": "user", "content": [{"type": "text", "text": "q"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}], "extra": {"openai-responses": {"id": "m"}}},
    )
    assert found[0]["content"] == [{"type": "input_text", "text": "q"}]
    assert found[1]["content"] == [{"type": "output_text", "text": "a", "annotations": []}]


def test_an_answer_from_elsewhere_is_plain_text() -> None:
    found = sent({"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})
    assert found == [{"role": "assistant", "content": "ab"}]


def test_calls_and_results_take_this_apis_names() -> None:
    found = sent(
        {"type": "tool_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "tool_result", "call_id": "a", "output": [{"type": "image", "url": "https://example.org/a.png"}]},
    )
    assert found == [
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "a",
            "output": [{"type": "input_image", "detail": "auto", "image_url": "https://example.org/a.png"}],
        },
    ]


def test_reasoning_of_anthropic_is_left_out() -> None:
    thinking = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "t", "signature": "s"},
            {"type": "redacted_thinking", "data": "d"},
            {"type": "text", "text": "x"},
        ],
    }
    assert sent(*parse([thinking], "anthropic").items) == [{"role": "assistant", "content": "x"}]


def test_reasoning_that_a_question_follows_directly_is_left_out() -> None:
    lone = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}
    question = {"role": "user", "content": "go on"}
    assert sent(*parse([lone, question], "openai-responses").items) == [question]


def test_bare_items_of_this_api_are_given_back() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    assert sent(item) == [item]
    assert render([item], "openai-chat")["messages"] == []


def test_instructions_are_the_system_prompt_both_ways() -> None:
    parsed = parse({"input": "q", "instructions": "s"}, "openai-responses")
    assert parsed.system == "s"
    assert render(parsed.items, "openai-responses", system="s") == {
        "input": [{"role": "user", "content": "q"}],
        "instructions": "s",
    }


def test_neutral_tools_are_not_strict_unless_asked() -> None:
    tool = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    rendered = render([], "openai-responses", tools=[tool, tool | {"strict": True}])["tools"]
    assert [made["strict"] for made in rendered] == [False, True]
    assert rendered[0] == {
        "type": "function",
        "name": "f",
        "description": "d",
        "parameters": {"type": "object"},
        "strict": False,
    }


def test_tools_of_every_kind_come_back() -> None:
    tools = [
        {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True, "defer_loading": True},
        {"type": "function", "name": "g", "parameters": {"type": "object"}},
        {"type": "web_search"},
    ]
    parsed = parse({"input": [], "tools": tools}, "openai-responses")
    assert parsed.tools is not None
    assert render([], "openai-responses", tools=parsed.tools)["tools"] == tools


@pytest.mark.parametrize("payload", [None, 4, {"text": "x"}, ["x"]])
def test_what_is_no_responses_payload_is_refused(payload: Any) -> None:
    with pytest.raises(InvalidInput):
        parse(payload, "openai-responses")
