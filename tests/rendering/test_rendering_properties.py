"""Rule A6 on anything at all: back and forth loses nothing, and requests have the order providers demand."""

from __future__ import annotations

import json
from typing import Any

import provider_payloads as payloads
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.pairing import pair
from graphstore.rendering import FORMATS, parse, render

Json = dict[str, Any]

pytestmark = pytest.mark.rule("A6")


def kept(items: list[Json]) -> list[Json]:
    return [items[index] for index in pair(items).kept]


class TestBackAndForth:
    @given(payloads.chat_messages)
    def test_chat_messages_come_back_unchanged(self, messages: list[Json]) -> None:
        parsed = parse({"messages": messages}, "openai-chat")
        assert render(parsed.items, "openai-chat", system=parsed.system) == {"messages": messages}

    @given(payloads.responses_input)
    def test_responses_input_comes_back_unchanged(self, items: list[Json]) -> None:
        parsed = parse({"input": items, "instructions": "be brief"}, "openai-responses")
        again = render(parsed.items, "openai-responses", system=parsed.system)
        assert again == {"input": items, "instructions": "be brief"}

    @given(payloads.anthropic_messages(), payloads.anthropic_system)
    def test_anthropic_messages_come_back_unchanged(self, messages: list[Json], system: Any) -> None:
        payload = {"messages": messages} | ({} if system is None else {"system": system})
        parsed = parse(payload, "anthropic")
        assert render(parsed.items, "anthropic", system=parsed.system) == payload

    @given(payloads.gemini_contents(), payloads.gemini_system)
    def test_gemini_contents_come_back_unchanged(self, contents: list[Json], system: Any) -> None:
        payload = {"contents": contents} | ({} if system is None else {"system_instruction": system})
        parsed = parse(payload, "gemini")
        assert render(parsed.items, "gemini", system=parsed.system) == payload

    @given(payloads.odd_items)
    def test_neutral_items_come_back_unchanged(self, items: list[Json]) -> None:
        assert parse(render(items, "items", system="s"), "items").items == items

    @given(st.text())
    def test_arguments_survive_anthropic_whatever_their_text(self, arguments: str) -> None:
        call = {"type": "tool_call", "call_id": "a", "name": "f", "arguments": arguments}
        request = render([{"role": "user", "content": "q"}, call], "anthropic")
        again = parse(request, "anthropic").items[-1]["arguments"]
        assert render([call | {"arguments": again}], "anthropic") == render([call], "anthropic")


class TestNothingCrashes:
    @settings(max_examples=300)
    @given(payloads.odd_items, st.sampled_from(FORMATS))
    def test_any_items_render_to_json_and_are_left_alone(self, items: list[Json], format: str) -> None:
        before = json.dumps(items)
        json.dumps(render(items, format, system="s"))
        assert json.dumps(items) == before

    @given(payloads.odd_items, st.sampled_from(FORMATS))
    def test_rendering_twice_gives_the_same_bytes(self, items: list[Json], format: str) -> None:
        assert json.dumps(render(items, format)) == json.dumps(render(items, format))


class TestOrder:
    @given(payloads.usual_items)
    def test_chat_answers_every_call_right_after_its_message(self, items: list[Json]) -> None:
        due: list[str] = []
        for message in render(kept(items), "openai-chat")["messages"]:
            if message["role"] == "tool":
                due.remove(message["tool_call_id"])
            else:
                assert not due
                due = [call["id"] for call in message.get("tool_calls", ())]
                assert message["content"] is not None or due
        assert not due

    @given(payloads.usual_items)
    def test_responses_gives_every_call_its_output_after_it(self, items: list[Json]) -> None:
        due: list[str] = []
        for item in render(kept(items), "openai-responses")["input"]:
            if item.get("type") == "function_call":
                due.append(item["call_id"])
            elif item.get("type") == "function_call_output":
                due.remove(item["call_id"])
            elif item.get("role") in ("user", "system", "developer"):
                assert not due
        assert not due

    @given(payloads.usual_items)
    def test_anthropic_alternates_with_results_first_and_complete(self, items: list[Json]) -> None:
        messages = render(kept(items), "anthropic")["messages"]
        due: set[str] = set()
        seen: set[str] = set()
        for position, message in enumerate(messages):
            assert message["role"] == ("assistant" if position % 2 else "user")
            content = message["content"]
            assert content
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            kinds = [block["type"] for block in blocks]
            assert all(block["text"].strip() for block in blocks if block["type"] == "text")
            results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            assert kinds[: len(results)] == ["tool_result"] * len(results)
            assert (set(results), len(results)) == (due, len(due))
            due = {block["id"] for block in blocks if block["type"] == "tool_use"}
            assert len(due) == kinds.count("tool_use")
            assert not due & seen
            seen |= due
            if position < len(messages) - 1:
                assert kinds[-1] not in ("thinking", "redacted_thinking")
        assert not due

    @given(payloads.usual_items)
    def test_gemini_answers_every_call_in_the_content_after_it(self, items: list[Json]) -> None:
        due: list[tuple[str, str]] = []
        seen: set[str] = set()
        for position, content in enumerate(render(kept(items), "gemini")["contents"]):
            assert content["role"] == ("model" if position % 2 else "user")
            assert content["parts"]
            assert all(part["text"] for part in content["parts"] if "text" in part)
            answers = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
            assert sorted((answer["id"], answer["name"]) for answer in answers) == sorted(due)
            calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
            due = [(call["id"], call["name"]) for call in calls]
            assert not {call_id for call_id, _ in due} & seen
            seen |= {call_id for call_id, _ in due}
            assert len(dict(due)) == len(due)
        assert not due

    @given(payloads.usual_items)
    def test_reasoning_never_reaches_another_provider(self, items: list[Json]) -> None:
        items = [{**item, "text": "SECRET"} if item.get("type") == "reasoning" else item for item in items]
        for_chat = json.dumps(render(items, "openai-chat"))
        for_responses = json.dumps(render(items, "openai-responses"))
        assert "SECRET" not in for_chat
        assert "ENC" not in for_chat
        assert "SECRET" not in for_responses
        assert '"sig"' not in for_responses
        for_gemini = json.dumps(render(items, "gemini")["contents"])
        assert for_gemini.count("SECRET") == for_gemini.count('"thought": true')
        assert '"sig"' not in for_gemini
        assert "ENC" not in for_gemini
        for message in render(items, "anthropic")["messages"]:
            for block in message["content"] if isinstance(message["content"], list) else ():
                assert "SECRET" not in json.dumps(block) or block.get("signature") == "sig"
