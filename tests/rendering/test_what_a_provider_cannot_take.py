"""What a provider can not take: media without bytes are said in words, foreign letters in names respelled (A6)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from graphstore.rendering import FORMATS, render

pytestmark = pytest.mark.rule("A6")

PROVIDERS = [name for name in FORMATS if name != "items"]

PHOTO = {"type": "image", "asset_pointer": "file-service://file-1", "extra": {"chatgpt": {"width": 3}}}
REPORT = {"type": "file", "filename": "report.pdf"}
CLIP = {"type": "raw", "format": "chatgpt", "data": {"content_type": "video_container_asset_pointer"}}


def sent(items: list[dict[str, Any]], shape: str, **options: Any) -> str:
    return json.dumps(render(items, shape, **options))


@pytest.mark.parametrize("shape", PROVIDERS)
class TestMediaWithoutBytes:
    @pytest.mark.parametrize("role", ["user", "assistant"])
    @pytest.mark.parametrize(
        ("part", "words"),
        [
            (PHOTO, "[image not available]"),
            (REPORT, "[file 'report.pdf' not available]"),
            (CLIP, "[video container asset pointer not available]"),
        ],
    )
    def test_words_stand_in_where_nothing_else_was_said(
        self, shape: str, role: str, part: dict[str, Any], words: str
    ) -> None:
        question = {"type": "message", "role": "user", "content": "look"}
        assert words in sent([question, {"type": "message", "role": role, "content": [part]}], shape)

    def test_words_stand_in_beside_text(self, shape: str) -> None:
        content = [PHOTO, {"type": "text", "text": "what is on it?"}]
        text = sent([{"type": "message", "role": "user", "content": content}], shape)
        assert text.index("[image not available]") < text.index("what is on it?")

    def test_words_stand_in_for_a_tools_result(self, shape: str) -> None:
        call = {"type": "tool_call", "call_id": "c", "name": "draw", "arguments": "{}"}
        text = sent([call, {"type": "tool_result", "call_id": "c", "output": [PHOTO]}], shape)
        assert "[image not available]" in text

    def test_media_with_bytes_need_no_words(self, shape: str) -> None:
        image = {"type": "image", "media_type": "image/png", "data": "aGk="}
        text = sent([{"type": "message", "role": "user", "content": [image]}], shape)
        assert "aGk=" in text
        assert "not available" not in text

    def test_a_file_in_another_providers_store_is_named_as_missing(self, shape: str) -> None:
        image = {"type": "image", "file_id": "file-9", "provider": "elsewhere"}
        assert "[image not available]" in sent([{"type": "message", "role": "user", "content": [image]}], shape)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (
            {"type": "file", "media_type": "audio/ogg", "data": "aGk=", "filename": "a.ogg"},
            "[file 'a.ogg' not available]",
        ),
        ({"type": "image", "media_type": "image/svg+xml", "data": "aGk="}, "[image not available]"),
    ],
)
def test_anthropic_is_told_of_bytes_of_a_kind_it_does_not_take(part: dict[str, Any], words: str) -> None:
    text = sent([{"type": "message", "role": "user", "content": [part]}], "anthropic")
    assert words in text
    assert "aGk=" not in text


@pytest.mark.parametrize("shape", PROVIDERS)
def test_a_tools_name_is_respelled_alike_in_its_definition_and_its_calls(shape: str) -> None:
    tool = {"name": "browser.search", "parameters": {"type": "object", "properties": {}}}
    items = [
        {"type": "message", "role": "user", "content": "q"},
        {"type": "tool_call", "call_id": "c", "name": "browser.search", "arguments": "{}"},
        {"type": "tool_result", "call_id": "c", "output": "42"},
    ]
    text = sent(items, shape, tools=[tool])
    assert set(re.findall(r'"name": "([^"]*)"', text)) == {"browser_search"}
    assert text.count("browser_search") >= 2


def test_the_neutral_items_keep_name_and_part_as_they_are() -> None:
    items = [
        {"type": "message", "role": "user", "content": [PHOTO]},
        {"type": "tool_call", "call_id": "c", "name": "browser.search", "arguments": "{}"},
    ]
    assert render(items, "items")["items"] == items
