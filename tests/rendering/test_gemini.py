"""Gemini: user and model in turn, responses after their calls, signatures on the parts they came with (rule A6)."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore.errors import InvalidInput
from graphstore.rendering import parse, render
from graphstore.rendering.shape import OPENING

pytestmark = pytest.mark.rule("A6")

Json = dict[str, Any]

IMAGE = {"type": "image", "media_type": "image/png", "data": "aGk="}


def call(call_id: str, arguments: str = "{}") -> Json:
    return {"type": "tool_call", "call_id": call_id, "name": "search", "arguments": arguments}


def result(call_id: str, **fields: Any) -> Json:
    return {"type": "tool_result", "call_id": call_id, "output": "found"} | fields


def said(role: str, content: Any) -> Json:
    return {"type": "message", "role": role, "content": content}


def contents(*items: Json) -> list[Json]:
    found: list[Json] = render(list(items), "gemini")["contents"]
    return found


def outline(found: list[Json]) -> list[list[str]]:
    return [[content["role"], *(next(iter(part)) for part in content["parts"])] for content in found]


def user(*parts: Json) -> Json:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Json) -> Json:
    return {"role": "model", "parts": list(parts)}


class TestDialogue:
    def test_the_same_side_in_a_row_is_one_content(self) -> None:
        found = contents(said("user", "a"), said("user", "b"), said("assistant", "c"), call("x"), result("x"))
        assert outline(found) == [
            ["user", "text", "text"],
            ["model", "text", "functionCall"],
            ["user", "functionResponse"],
        ]

    def test_a_late_result_is_moved_to_right_after_its_call(self) -> None:
        found = contents(said("user", "q"), call("a"), call("b"), result("a"), said("user", "?"), result("b"))
        assert outline(found)[1:] == [
            ["model", "functionCall", "functionCall"],
            ["user", "functionResponse", "functionResponse", "text"],
        ]

    def test_a_dialogue_that_starts_with_the_model_gets_an_opening(self) -> None:
        assert contents(said("assistant", "Summary: …"))[0] == user({"text": OPENING})

    def test_empty_text_is_left_out(self) -> None:
        assert contents(said("user", "q"), said("assistant", ""), said("user", [])) == [user({"text": "q"})]

    def test_repeated_call_ids_become_unique(self) -> None:
        found = contents(said("user", "q"), call("f:0"), result("f:0"), call("f:0"), result("f:0"))
        ids = [next(iter(part.values()))["id"] for content in found[1:] for part in content["parts"]]
        assert ids == ["f:0", "f:0", "f:0_2", "f:0_2"]

    def test_a_response_names_the_function_of_its_call(self) -> None:
        answer = contents(said("user", "q"), call("a"), result("a"))[2]["parts"][0]
        assert answer == {"functionResponse": {"id": "a", "name": "search", "response": {"output": "found"}}}

    def test_a_failure_is_told_as_an_error(self) -> None:
        answer = contents(said("user", "q"), call("a"), result("a", is_error=True))[2]["parts"][0]
        assert answer["functionResponse"]["response"] == {"error": "found"}

    def test_an_image_that_a_tool_gave_is_beside_the_text(self) -> None:
        output = [{"type": "text", "text": "drawn"}, IMAGE]
        answer = contents(said("user", "q"), call("a"), result("a", output=output))[2]["parts"][0]["functionResponse"]
        assert answer["response"] == {"output": "drawn"}
        assert answer["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}]
        assert parse([user({"functionResponse": answer})], "gemini").items[0]["output"] == output


class TestSystem:
    def test_prompt_and_instructions_at_the_start_are_apart(self) -> None:
        found = render([said("developer", "b"), said("user", "q")], "gemini", system="a")
        assert found == {
            "contents": [user({"text": "q"})],
            "system_instruction": {"parts": [{"text": "a"}, {"text": "b"}]},
        }

    def test_later_instructions_become_marked_user_text(self) -> None:
        assert contents(said("user", "q"), said("system", "be brief"))[0]["parts"][1] == {
            "text": "<system>\nbe brief\n</system>"
        }

    @pytest.mark.parametrize(
        "request_",
        [
            {"systemInstruction": {"parts": [{"text": "s"}]}},
            {"system_instruction": {"role": "user", "parts": [{"text": "s"}]}},
            {"system_instruction": "s"},
            {"config": {"system_instruction": ["s"], "temperature": 0}},
        ],
    )
    def test_it_is_read_wherever_it_is_put(self, request_: Json) -> None:
        assert parse({"contents": "q", **request_}, "gemini").system == "s"


class TestSignatures:
    def test_each_goes_back_on_its_own_part(self) -> None:
        dialogue = [
            user({"text": "q"}),
            model(
                {"text": "I need two things.", "thought": True},
                {"functionCall": {"id": "a", "name": "f", "args": {}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"id": "b", "name": "f", "args": {}}},
            ),
            user(
                {"functionResponse": {"id": "a", "name": "f", "response": {"output": "1"}}},
                {"functionResponse": {"id": "b", "name": "f", "response": {"output": "2"}}},
            ),
            model({"text": "12"}, {"text": "", "thoughtSignature": "bGFzdA=="}),
        ]
        items = parse(dialogue, "gemini").items
        assert items[2]["extra"] == {"gemini": {"thoughtSignature": "c2ln"}}
        assert contents(*items) == dialogue

    def test_thoughts_are_reasoning_that_only_gemini_is_sent(self) -> None:
        items = parse(
            [model({"text": "hm", "thought": True, "thoughtSignature": "c2ln"}, {"text": "so"})], "gemini"
        ).items
        assert items[0] == {
            "type": "reasoning",
            "text": "hm",
            "signature": "c2ln",
            "extra": {"gemini": {"thought": True}},
        }
        for other in ("anthropic", "openai-chat", "openai-responses"):
            assert "hm" not in str(render(items, other))
            assert "c2ln" not in str(render(items, other))

    def test_thoughts_of_others_are_left_out(self) -> None:
        signed = {"type": "reasoning", "text": "t", "signature": "s"}
        assert contents(said("user", "q"), signed, said("assistant", "a")) == [
            user({"text": "q"}),
            model({"text": "a"}),
        ]


class TestCallsWithoutAnId:
    def test_calls_and_responses_pair_in_order_and_go_back_without(self) -> None:
        asked = [{"functionCall": {"name": "f", "args": {"n": n}}} for n in (1, 2)]
        answered = [{"functionResponse": {"name": "f", "response": {"output": str(n)}}} for n in (1, 2)]
        dialogue = [user({"text": "q"}), model(*asked), user(*answered), model(asked[0]), user(answered[0])]
        items = parse(dialogue, "gemini").items
        assert [item["call_id"] for item in items[1:]] == [
            *("function_f", "function_f_2", "function_f", "function_f_2", "function_f", "function_f")
        ]
        assert contents(*items) == dialogue

    def test_a_response_parsed_apart_pairs_with_its_call(self) -> None:
        called = parse([model({"functionCall": {"name": "f"}})], "gemini").items
        answered = parse([user({"functionResponse": {"name": "f", "response": {"output": "1"}}})], "gemini").items
        assert called[0]["call_id"] == answered[0]["call_id"]

    def test_the_callers_own_result_goes_without_one_too(self) -> None:
        called = parse([model({"functionCall": {"name": "f", "args": {}}})], "gemini").items
        answer = contents(said("user", "q"), *called, result(called[0]["call_id"]))[2]["parts"][0]["functionResponse"]
        assert answer == {"name": "f", "response": {"output": "found"}}

    def test_another_provider_gets_the_made_up_id(self) -> None:
        called = parse([model({"functionCall": {"name": "f", "args": {}}})], "gemini").items
        assert render(called, "openai-chat")["messages"][0]["tool_calls"][0]["id"] == "function_f"


class TestMedia:
    @pytest.mark.parametrize(
        ("part", "expected"),
        [
            (IMAGE, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}),
            (
                {"type": "audio", "data": "aGk=", "format": "mp3"},
                {"inlineData": {"mimeType": "audio/mp3", "data": "aGk="}},
            ),
            (
                {"type": "image", "url": "data:image/gif;base64,aGk="},
                {"inlineData": {"mimeType": "image/gif", "data": "aGk="}},
            ),
            ({"type": "image", "url": "https://example.org/a"}, {"fileData": {"fileUri": "https://example.org/a"}}),
            (
                {"type": "file", "file_id": "gs://b/a.pdf", "provider": "gemini", "media_type": "application/pdf"},
                {"fileData": {"fileUri": "gs://b/a.pdf", "mimeType": "application/pdf"}},
            ),
            ({"type": "file", "text": "plain", "filename": "a.txt"}, {"text": "plain"}),
            ({"type": "image", "file_id": "file-1"}, {"text": "[image not available]"}),
        ],
    )
    def test_neutral_parts_become_its_own(self, part: Json, expected: Json) -> None:
        assert contents(said("user", [part])) == [user(expected)]

    def test_a_file_in_googles_store_is_named_as_missing_to_others(self) -> None:
        uri = "https://generativelanguage.googleapis.com/v1beta/files/abc"
        items = parse([user({"fileData": {"fileUri": uri, "mimeType": "image/png"}})], "gemini").items
        assert "[image not available]" in str(render(items, "openai-chat"))


class TestTools:
    def test_all_functions_are_declared_in_one_tool(self) -> None:
        tools = [
            {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": True},
            {"googleSearch": {}},
            {"name": "2.g"},
        ]
        assert render([], "gemini", tools=tools)["tools"] == [
            {
                "functionDeclarations": [
                    {"name": "f", "description": "d", "parametersJsonSchema": {"type": "object"}},
                    {"name": "_2_g"},
                ]
            },
            {"googleSearch": {}},
        ]

    def test_its_own_come_back(self) -> None:
        tools = [
            {
                "functionDeclarations": [
                    {"name": "f", "parametersJsonSchema": {"type": "object"}, "behavior": "BLOCKING"},
                    {"name": "g", "parameters": {"type": "object", "properties": {"type": {"type": "string"}}}},
                ]
            },
            {"codeExecution": {}},
        ]
        parsed = parse({"contents": [], "tools": tools}, "gemini")
        assert parsed.tools is not None
        assert [tool.get("name") for tool in parsed.tools] == ["f", "g", None]
        assert render([], "gemini", tools=parsed.tools)["tools"] == tools

    def test_types_in_capitals_are_json_schema_for_others(self) -> None:
        schema = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "enum": ["STRING"]}}}
        declared = {"function_declarations": [{"name": "f", "parameters": schema}]}
        parsed = parse({"contents": [], "tools": [declared]}, "gemini")
        assert render([], "anthropic", tools=parsed.tools)["tools"][0]["input_schema"] == {
            "type": "object",
            "properties": {"a": {"type": "string", "enum": ["STRING"]}},
        }


class TestParsing:
    def test_a_response_gives_its_first_candidate(self) -> None:
        response = {
            "candidates": [
                {"content": model({"text": "hi"}), "finishReason": "STOP"},
                {"content": model({"text": "hello"})},
            ],
            "usageMetadata": {"totalTokenCount": 3},
        }
        assert parse(response, "gemini").items == [said("assistant", "hi")]

    @pytest.mark.parametrize(
        "response", [{"candidates": []}, {"candidates": None}, {"candidates": [{"finishReason": "SAFETY"}]}]
    )
    def test_a_blocked_response_gives_nothing(self, response: Json) -> None:
        assert parse(response, "gemini").items == []

    @pytest.mark.parametrize(
        ("payload", "role"),
        [
            ("hi", "user"),
            (["hi"], "user"),
            ({"contents": "hi"}, "user"),
            ([{"parts": [{"text": "hi"}]}], "user"),
            (model({"text": "hi"}), "assistant"),
            ([{"text": "hi"}], "assistant"),
        ],
    )
    def test_shorter_forms_are_read(self, payload: Any, role: str) -> None:
        assert parse(payload, "gemini").items == [said(role, "hi")]

    def test_googles_python_spelling_is_read(self) -> None:
        dialogue = [
            user({"inline_data": {"mime_type": "image/png", "data": b"hi"}}),
            model({"function_call": {"id": "a", "name": "f", "args": {"snake_case": 1}}, "thought_signature": b"sig"}),
        ]
        assert contents(*parse(dialogue, "gemini").items) == [
            user({"inlineData": {"mimeType": "image/png", "data": "aGk="}}),
            model({"functionCall": {"id": "a", "name": "f", "args": {"snake_case": 1}}, "thoughtSignature": "c2ln"}),
        ]

    def test_a_response_object_of_any_shape_comes_back(self) -> None:
        answer = {"functionResponse": {"id": "a", "name": "f", "response": {"temperature": 7, "output": "x"}}}
        items = parse([user(answer)], "gemini").items
        assert items[0]["output"] == '{"temperature":7,"output":"x"}'
        assert contents(*items) == [user(answer)]

    @pytest.mark.parametrize(
        "payload", [None, 4, {"text": "x"}, [4], [{"role": "tool", "parts": []}], {"contents": {}}]
    )
    def test_what_is_no_gemini_payload_is_refused(self, payload: Any) -> None:
        with pytest.raises(InvalidInput):
            parse(payload, "gemini")
