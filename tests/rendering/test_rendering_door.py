"""The door of the room: formats by name, neutral items, tools in any shape (rule A6)."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore import rendering
from graphstore.errors import InvalidInput
from graphstore.models import Message, ToolCall
from graphstore.rendering import FORMATS, parse, render

pytestmark = pytest.mark.rule("A6")

NATIVE_TOOL = {"type": "web_search_20250305", "name": "web_search"}


def test_the_door_is_sorted_and_complete() -> None:
    assert rendering.__all__ == sorted(rendering.__all__)
    assert all(hasattr(rendering, name) for name in rendering.__all__)


@pytest.mark.parametrize("use", [lambda: render([], "gpt"), lambda: parse([], "gpt")])
def test_an_unknown_format_is_refused_by_name(use: Any) -> None:
    with pytest.raises(InvalidInput, match=r"'gpt' is not a format.*anthropic"):
        use()


def test_items_are_given_as_they_are() -> None:
    items = [{"type": "anything", "extra": {"x": 1}}, {"role": "user", "content": "q"}]
    payload = render(items, "items", system="s", tools=[{"name": "f"}])
    assert payload == {"items": items, "system": "s", "tools": [{"name": "f"}]}
    parsed = parse(payload, "items")
    assert (parsed.items, parsed.system, parsed.tools) == (items, "s", [{"name": "f"}])


def test_item_models_are_read_as_items() -> None:
    models = [Message(role="user", content="q"), ToolCall(call_id="a", name="f", arguments="{}")]
    assert parse(models, "items").items == [
        {"type": "message", "role": "user", "content": "q"},
        {"type": "tool_call", "call_id": "a", "name": "f", "arguments": "{}"},
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_context_renders(format: str) -> None:
    assert list(render([], format).values()) == [[]]


@pytest.mark.parametrize("format", FORMATS)
def test_a_tool_in_a_providers_shape_passes_unchanged(format: str) -> None:
    assert render([], format, tools=[NATIVE_TOOL])["tools"] == [NATIVE_TOOL]
