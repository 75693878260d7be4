"""Anthropic: system apart, alternating roles, results first, thinking signed (rule A6)."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore.errors import InvalidInput
from graphstore.rendering import parse, render
from graphstore.rendering.anthropic import OPENING

pytestmark = pytest.mark.rule("A6")

Json = dict[str, Any]


def call(call_id: str, arguments: str = "{}") -> Json:
    return {"type": "tool_call", "call_id": call_id, "name": "search", "arguments": arguments}


def result(call_id: str, **fields: Any) -> Json:
    return {"type": "tool_result", "call_id": call_id, "output": "found"} | fields


def said(role: str, content: Any) -> Json:
    return {"type": "message", "role": role, "content": content}


def messages(*items: Json) -> list[Json]:
    found: list[Json] = render(list(items), "anthropic")["messages"]
    return found


def outline(found: list[Json]) -> list[list[str]]:
    return [
        [
            message["role"],
            *(["text"] if isinstance(message["content"], str) else [b["type"] for b in message["content"]]),
        ]
        for message in found
    ]


class TestDialogue:
    def test_the_same_side_in_a_row_is_one_message(self) -> None:
        found = messages(said("user", "a"), said("user", "b"), said("assistant", "c"), said("assistant", "d"))
        assert outline(found) == [["user", "text", "text"], ["assistant", "text", "text"]]

    def test_results_stand_first_in_the_user_message_after_their_calls(self) -> None:
        found = messages(said("user", "q"), call("a"), call("b"), result("a"), said("user", "hurry"), result("b"))
        assert outline(found)[1:] == [
            ["assistant", "tool_use", "tool_use"],
            ["user", "tool_result", "tool_result", "text"],
        ]

    def test_a_late_result_is_moved_past_whole_messages(self) -> None:
        found = messages(said("user", "q"), call("a"), said("user", "?"), said("assistant", "soon"), result("a"))
        assert outline(found)[1:] == [["assistant", "tool_use"], ["user", "tool_result", "text"], ["assistant", "text"]]

    def test_a_dialogue_that_starts_with_the_assistant_gets_an_opening(self) -> None:
        assert messages(said("assistant", "Summary: …"))[0] == {"role": "user", "content": OPENING}

    def test_blank_text_is_left_out_and_trailing_space_left_alone(self) -> None:
        found = messages(
            said("user", "q "), said("assistant", ""), said("assistant", [{"type": "text", "text": " \n"}])
        )
        assert found == [{"role": "user", "content": "q "}]

    def test_repeated_and_misspelled_call_ids_become_unique_and_valid(self) -> None:
        found = messages(said("user", "q"), call("f:0"), result("f:0"), call("f:0"), result("f:0"))
        uses = [message["content"][0]["id"] for message in found[1::2]]
        results = [message["content"][0]["tool_use_id"] for message in found[2::2]]
        assert uses == results == ["f_0", "f_0_2"]

    def test_errors_are_marked(self) -> None:
        found = messages(said("user", "q"), call("a"), result("a", is_error=True))
        assert found[2]["content"][0]["is_error"] is True


class TestSystem:
    def test_the_prompt_is_apart(self) -> None:
        assert render([said("user", "q")], "anthropic", system="s") == {
            "system": "s",
            "messages": [{"role": "user", "content": "q"}],
        }

    def test_instructions_at_the_start_join_it(self) -> None:
        found = render([said("system", "b"), said("developer", "c"), said("user", "q")], "anthropic", system="a")
        assert [block["text"] for block in found["system"]] == ["a", "b", "c"]
        assert outline(found["messages"]) == [["user", "text"]]

    def test_later_instructions_become_marked_user_text(self) -> None:
        found = messages(said("user", "q"), said("system", "be brief"))
        assert found[0]["content"][1]["text"] == "<system>\nbe brief\n</system>"

    def test_this_apis_own_later_system_messages_come_back(self) -> None:
        dialogue = [
            {"role": "user", "content": "q"},
            {"role": "system", "content": "now brief"},
            {"role": "assistant", "content": "a"},
        ]
        assert messages(*parse(dialogue, "anthropic").items) == dialogue

    def test_cache_markers_in_it_come_back(self) -> None:
        system = [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
        payload = {"system": system, "messages": [{"role": "user", "content": "q"}]}
        parsed = parse(payload, "anthropic")
        assert render(parsed.items, "anthropic", system=parsed.system) == payload


class TestThinking:
    def test_it_is_given_back_signed_before_what_it_led_to(self) -> None:
        reply = {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            ],
        }
        question = {"role": "user", "content": "q"}
        assert messages(*parse([question, reply], "anthropic").items) == [question, reply]

    def test_unsigned_reasoning_and_that_of_others_is_left_out(self) -> None:
        openai = {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "t"}],
            "encrypted_content": "E",
        }
        found = messages(
            said("user", "q"),
            {"type": "reasoning", "text": "unsigned"},
            {"type": "reasoning", "encrypted": "unknown"},
            *parse([openai], "openai-responses").items,
            said("assistant", "a"),
        )
        assert outline(found) == [["user", "text"], ["assistant", "text"]]

    def test_thinking_that_nothing_followed_is_left_out(self) -> None:
        found = messages(said("user", "q"), {"type": "reasoning", "text": "t", "signature": "s"}, said("user", "again"))
        assert outline(found) == [["user", "text", "text"]]


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ('{"a": [1, null]}', {"a": [1, None]}),
            ("", {}),
            ('{"a": ', {"_raw": '{"a": '}),
            ("[1]", {"_raw": "[1]"}),
            ('{"a": 1e400}', {"_raw": '{"a": 1e400}'}),
            ('{"a": NaN}', {"_raw": '{"a": NaN}'}),
            ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
            ("[" * 100_000, {"_raw": "[" * 100_000}),
        ],
    )
    def test_text_becomes_an_object_or_is_wrapped(self, arguments: str, expected: Json) -> None:
        assert messages(said("user", "q"), call("a", arguments))[1]["content"][0]["input"] == expected

    @pytest.mark.parametrize("arguments", ["not json", "[1]", '{"a":1}'])
    def test_text_comes_back(self, arguments: str) -> None:
        assert parse(messages(call("a", arguments)), "anthropic").items[-1]["arguments"] == arguments


class TestParsing:
    def test_a_message_gives_what_the_model_returned(self) -> None:
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "hi", "citations": None}],
        }
        assert parse(message, "anthropic").items == [said("assistant", [{"type": "text", "text": "hi"}])]

    def test_server_tools_stay_in_the_message_and_come_back(self) -> None:
        reply = {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "searching"},
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                {"type": "text", "text": "found", "citations": [{"type": "web_search_result_location", "url": "u"}]},
            ],
        }
        items = parse([reply], "anthropic").items
        assert messages(*items)[1:] == [reply]
        assert render(items, "openai-responses")["input"] == [{"role": "assistant", "content": "searchingfound"}]

    def test_tools_come_back_with_their_cache_marker(self) -> None:
        tools = [
            {"name": "f", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
        ]
        parsed = parse({"messages": [], "tools": tools}, "anthropic")
        assert parsed.tools is not None
        assert parsed.tools[0]["parameters"] == {"type": "object"}
        assert render([], "anthropic", tools=parsed.tools)["tools"] == tools

    @pytest.mark.parametrize("payload", [None, 4, {"text": "x"}, ["x"], [{"role": "tool", "content": "x"}]])
    def test_what_is_no_anthropic_payload_is_refused(self, payload: Any) -> None:
        with pytest.raises(InvalidInput):
            parse(payload, "anthropic")
