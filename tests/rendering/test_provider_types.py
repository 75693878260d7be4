"""What rendering gives is what the providers' own SDKs declare as a request (rule A6)."""

from __future__ import annotations

from typing import Any

import provider_payloads as payloads
import pytest
from hypothesis import HealthCheck, given, settings
from pydantic import TypeAdapter

from graphstore.pairing import pair
from graphstore.rendering import parse, render

Json = dict[str, Any]

pytestmark = pytest.mark.rule("A6")

TOOLS = [
    {"name": "search", "description": "Find it", "parameters": {"type": "object", "properties": {}}},
    {"name": "ping"},
]
generously = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def chat() -> TypeAdapter[Any]:
    types = pytest.importorskip("openai.types.chat")
    return TypeAdapter(list[types.ChatCompletionMessageParam])


@pytest.fixture(scope="module")
def responses() -> TypeAdapter[Any]:
    types = pytest.importorskip("openai.types.responses")
    return TypeAdapter(list[types.ResponseInputItemParam])


@pytest.fixture(scope="module")
def anthropic() -> TypeAdapter[Any]:
    types = pytest.importorskip("anthropic.types")
    return TypeAdapter(list[types.MessageParam])


@pytest.fixture(scope="module")
def gemini() -> TypeAdapter[Any]:
    types = pytest.importorskip("google.genai.types")
    return TypeAdapter(list[types.Content])


def judge(adapter: TypeAdapter[Any], value: Any) -> None:
    """Validate, also what pydantic would only validate when iterated over."""
    exhaust(adapter.validate_python(value))


def exhaust(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            exhaust(inner)
    elif hasattr(value, "__iter__") and not isinstance(value, str | bytes):
        for inner in value:
            exhaust(inner)


def paired(items: list[Json]) -> list[Json]:
    return [items[index] for index in pair(items).kept]


@generously
@given(items=payloads.usual_items)
def test_openai_takes_any_items_as_chat_messages(chat: TypeAdapter[Any], items: list[Json]) -> None:
    judge(chat, render(paired(items), "openai-chat", system="s")["messages"])


@generously
@given(items=payloads.usual_items)
def test_openai_takes_any_items_as_responses_input(responses: TypeAdapter[Any], items: list[Json]) -> None:
    judge(responses, render(paired(items), "openai-responses")["input"])


@generously
@given(items=payloads.usual_items)
def test_anthropic_takes_any_items_as_messages(anthropic: TypeAdapter[Any], items: list[Json]) -> None:
    judge(anthropic, render(paired(items), "anthropic")["messages"])


@generously
@given(items=payloads.usual_items)
def test_google_takes_any_items_as_contents(gemini: TypeAdapter[Any], items: list[Json]) -> None:
    judge(gemini, render(paired(items), "gemini", system="s")["contents"])


@generously
@given(contents=payloads.gemini_contents())
def test_googles_own_objects_are_read_as_their_json_is(gemini: TypeAdapter[Any], contents: list[Json]) -> None:
    objects = gemini.validate_python(contents)
    assert parse(objects, "gemini").items == parse(contents, "gemini").items


@generously
@given(contents=payloads.gemini_contents())
def test_gemini_contents_reach_the_others_validly(
    chat: TypeAdapter[Any], responses: TypeAdapter[Any], anthropic: TypeAdapter[Any], contents: list[Json]
) -> None:
    items = parse(contents, "gemini").items
    judge(chat, render(items, "openai-chat")["messages"])
    judge(responses, render(items, "openai-responses")["input"])
    judge(anthropic, render(items, "anthropic")["messages"])


@generously
@given(messages=payloads.chat_messages)
def test_chat_messages_reach_the_others_validly(
    responses: TypeAdapter[Any], anthropic: TypeAdapter[Any], gemini: TypeAdapter[Any], messages: list[Json]
) -> None:
    items = parse(messages, "openai-chat").items
    judge(gemini, render(items, "gemini")["contents"])
    judge(responses, render(items, "openai-responses")["input"])
    judge(anthropic, render(items, "anthropic")["messages"])


@generously
@given(messages=payloads.anthropic_messages())
def test_anthropic_messages_reach_the_others_validly(
    chat: TypeAdapter[Any], responses: TypeAdapter[Any], gemini: TypeAdapter[Any], messages: list[Json]
) -> None:
    items = parse(messages, "anthropic").items
    judge(gemini, render(items, "gemini")["contents"])
    judge(chat, render(items, "openai-chat")["messages"])
    judge(responses, render(items, "openai-responses")["input"])


@generously
@given(sent=payloads.responses_input)
def test_responses_items_reach_the_others_validly(
    chat: TypeAdapter[Any], anthropic: TypeAdapter[Any], gemini: TypeAdapter[Any], sent: list[Json]
) -> None:
    items = parse(sent, "openai-responses").items
    judge(gemini, render(items, "gemini")["contents"])
    judge(chat, render(items, "openai-chat")["messages"])
    judge(anthropic, render(items, "anthropic")["messages"])


def test_neutral_tools_are_what_each_provider_declares() -> None:
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    anthropic = pytest.importorskip("anthropic.types")
    judge(TypeAdapter(list[chat.ChatCompletionToolUnionParam]), render([], "openai-chat", tools=TOOLS)["tools"])
    judge(TypeAdapter(list[responses.FunctionToolParam]), render([], "openai-responses", tools=TOOLS)["tools"])
    judge(TypeAdapter(list[anthropic.ToolParam]), render([], "anthropic", tools=TOOLS)["tools"])
    google = pytest.importorskip("google.genai.types")
    request = render([], "gemini", system="s", tools=TOOLS)
    config = {"system_instruction": request["system_instruction"], "tools": request["tools"]}
    declared = google.GenerateContentConfig.model_validate(config).tools[0].function_declarations
    assert [function.name for function in declared] == ["search", "ping"]


def test_sdk_responses_are_parsed_as_they_are() -> None:
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    anthropic = pytest.importorskip("anthropic.types")
    completion = chat.ChatCompletion.model_validate(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "refusal": None,
                        "annotations": [],
                        "tool_calls": [
                            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                        ],
                    },
                }
            ],
        }
    )
    call = {"type": "tool_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
    assert parse(completion, "openai-chat").items == [call]
    assert parse([{"role": "user", "content": "q"}, completion.choices[0].message], "openai-chat").items[1] == call

    message = anthropic.Message.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "text", "text": "Let me see.", "citations": None},
                {"type": "tool_use", "id": "call_1", "name": "f", "input": {}},
            ],
        }
    )
    expected = [
        {"type": "reasoning", "text": "hm", "signature": "sig"},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Let me see."}]},
        call,
    ]
    assert parse(message, "anthropic").items == expected
    assert parse(message.content, "anthropic").items == expected
    assert parse([{"role": "assistant", "content": message.content}], "anthropic").items == expected

    response = responses.Response.model_validate(
        {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "m",
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "instructions": "be brief",
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ENC"},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"},
            ],
        }
    )
    assert parse(response, "openai-responses").items == [
        {
            "type": "reasoning",
            "summary": [],
            "encrypted": "ENC",
            "extra": {"openai-responses": {"id": "rs_1"}},
        },
        call | {"extra": {"openai-responses": {"id": "fc_1"}}},
    ]

    google = pytest.importorskip("google.genai.types")
    answer = google.GenerateContentResponse.model_validate(
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"text": "hm", "thought": True},
                            {"functionCall": {"id": "call_1", "name": "f", "args": {}}, "thoughtSignature": "c2ln"},
                        ],
                    },
                    "finishReason": "STOP",
                }
            ],
            "modelVersion": "m",
        }
    )
    expected = [
        {"type": "reasoning", "text": "hm", "extra": {"gemini": {"thought": True}}},
        call | {"extra": {"gemini": {"thoughtSignature": "c2ln"}}},
    ]
    assert parse(answer, "gemini").items == expected
    assert parse(answer.candidates[0].content, "gemini").items == expected
    assert parse({"contents": ["q", answer.candidates[0].content]}, "gemini").items[1:] == expected
