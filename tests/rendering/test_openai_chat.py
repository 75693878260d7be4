"""Chat Completions: merged assistant messages, results in their place, fields kept (rule A6)."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore.errors import InvalidInput
from graphstore.rendering import parse, render

pytestmark = pytest.mark.rule("A6")


def call(call_id: str) -> dict[str, Any]:
    return {"type": "tool_call", "call_id": call_id, "name": "search", "arguments": '{"q":1}'}


def result(call_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "call_id": call_id, "output": f"result of {call_id}"}


def said(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text}


def messages(*items: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = render(list(items), "openai-chat", **options)["messages"]
    return found


def outline(found: list[dict[str, Any]]) -> list[str]:
    return [message.get("tool_call_id", message["role"]) for message in found]


class TestRendering:
    def test_text_and_calls_of_one_answer_are_one_message(self) -> None:
        found = messages(
            said("user", "q"), said("assistant", "let me see"), call("a"), call("b"), result("a"), result("b")
        )
        assert outline(found) == ["user", "assistant", "a", "b"]
        assert found[1]["content"] == "let me see"
        assert [made["id"] for made in found[1]["tool_calls"]] == ["a", "b"]
        assert found[1]["tool_calls"][0] == {
            "id": "a",
            "type": "function",
            "function": {"name": "search", "arguments": '{"q":1}'},
        }

    def test_a_message_of_calls_only_has_null_content(self) -> None:
        assert messages(call("a"), result("a"))[0]["content"] is None

    def test_a_late_result_is_moved_to_its_call(self) -> None:
        found = messages(call("a"), said("user", "wait"), said("assistant", "ok"), result("a"), said("user", "so?"))
        assert outline(found) == ["assistant", "a", "user", "assistant", "user"]

    def test_text_after_calls_does_not_part_them_from_their_results(self) -> None:
        found = messages(said("assistant", "one"), call("a"), said("assistant", "two"), result("a"))
        assert outline(found) == ["assistant", "a"]
        assert [part["text"] for part in found[0]["content"]] == ["one", "two"]

    def test_separate_rounds_stay_separate(self) -> None:
        found = messages(call("a"), result("a"), call("a"), result("a"))
        assert outline(found) == ["assistant", "a", "assistant", "a"]

    def test_two_answers_in_a_row_stay_two_messages(self) -> None:
        assert outline(messages(said("assistant", "one"), said("assistant", "two"))) == ["assistant", "assistant"]

    def test_the_system_prompt_comes_first_and_developer_keeps_its_role(self) -> None:
        found = messages(said("developer", "d"), said("user", "q"), system="s")
        assert found[:2] == [{"role": "system", "content": "s"}, {"role": "developer", "content": "d"}]

    def test_reasoning_has_no_place(self) -> None:
        assert messages({"type": "reasoning", "text": "hm", "signature": "s"}, said("assistant", "x")) == [
            {"role": "assistant", "content": "x"}
        ]

    def test_another_providers_item_is_given_as_its_text_or_left_out(self) -> None:
        found = messages(
            {"type": "raw", "format": "anthropic", "data": {"type": "server_tool_use"}},
            {"type": "raw", "format": "chatgpt", "data": {"text": "a canvas"}},
        )
        assert found == [{"role": "assistant", "content": "a canvas"}]

    def test_images_and_files_of_others_are_translated(self) -> None:
        parts = [
            {"type": "image", "data": "QUJD", "media_type": "image/png"},
            {"type": "file", "data": "QUJD", "media_type": "application/pdf", "filename": "a.pdf"},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        ]
        found = messages({"role": "user", "content": parts})
        assert found[0]["content"] == [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,QUJD", "filename": "a.pdf"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        ]

    def test_what_another_format_kept_is_not_sent(self) -> None:
        part = {"type": "text", "text": "x", "extra": {"anthropic": {"cache_control": {"type": "ephemeral"}}}}
        assert messages({"role": "user", "content": [part]}) == [
            {"role": "user", "content": [{"type": "text", "text": "x"}]}
        ]


class TestParsing:
    def test_a_completion_gives_what_the_model_returned(self) -> None:
        completion = {
            "object": "chat.completion",
            "choices": [{"message": {"role": "assistant", "content": "hi", "refusal": None, "annotations": []}}],
        }
        assert parse(completion, "openai-chat").items == [said("assistant", "hi")]

    def test_a_leading_system_message_is_the_system_prompt(self) -> None:
        parsed = parse([{"role": "system", "content": "s"}, {"role": "user", "content": "q"}], "openai-chat")
        assert parsed.system == "s"
        assert parsed.items == [said("user", "q")]

    def test_legacy_function_calls_pair_by_name(self) -> None:
        items = parse(
            [
                {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": "4"},
            ],
            "openai-chat",
        ).items
        assert [item["type"] for item in items] == ["tool_call", "tool_result"]
        assert items[0]["call_id"] == items[1]["call_id"]

    def test_a_refusal_is_kept_and_readable_by_others(self) -> None:
        message = {"role": "assistant", "content": None, "refusal": "I can't"}
        items = parse([message], "openai-chat").items
        assert render(items, "openai-chat")["messages"] == [message]
        assert render(items, "openai-responses")["input"] == [{"role": "assistant", "content": "I can't"}]

    def test_a_calls_own_fields_come_back(self) -> None:
        signed = {
            "id": "a",
            "type": "function",
            "function": {"name": "f", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "SIG"}},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [signed]}
        assert render(parse([message], "openai-chat").items, "openai-chat")["messages"] == [message]

    def test_unknown_roles_are_kept_raw(self) -> None:
        message = {"role": "ipython", "content": "4"}
        assert render(parse([message], "openai-chat").items, "openai-chat")["messages"] == [message]

    def test_tools_come_back_with_their_strictness(self) -> None:
        tools = [
            {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": True}},
            {"type": "custom", "custom": {"name": "sh"}},
        ]
        parsed = parse({"messages": [], "tools": tools}, "openai-chat")
        assert parsed.tools is not None
        assert parsed.tools[0] == {"name": "f", "parameters": {"type": "object"}, "strict": True}
        assert render([], "openai-chat", tools=parsed.tools)["tools"] == tools

    @pytest.mark.parametrize("payload", [None, 4, {"text": "x"}, ["x"], [{"content": "x"}]])
    def test_what_is_no_chat_payload_is_refused(self, payload: Any) -> None:
        with pytest.raises(InvalidInput):
            parse(payload, "openai-chat")
