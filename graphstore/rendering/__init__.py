"""Contexts in the shape of a provider's request, and a provider's own items in neutral form (rule A6).

``render`` gives what one splats into the SDK; ``parse`` reads that, or a response::

    request = render(items, "anthropic", system=prompt, tools=tools)
    response = client.messages.create(model=…, max_tokens=…, **request)
    call.succeed(returned=parse(response, "anthropic").items)

Going to a provider and back loses nothing that this provider needs. Going to another one keeps what both have
words for; reasoning is never carried over, because it is signed or encrypted for the one it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphstore.errors import InvalidInput
from graphstore.rendering import anthropic, gemini, neutral, openai_chat, openai_responses
from graphstore.rendering.shape import ANTHROPIC, GEMINI, ITEMS, OPENAI_CHAT, OPENAI_RESPONSES, Parsed

__all__ = ["FORMATS", "Parsed", "parse", "render"]

_Render = Callable[[Sequence[dict[str, Any]], str | None, Sequence[dict[str, Any]] | None], dict[str, Any]]

_SHAPES: dict[str, tuple[_Render, Callable[[Any], Parsed]]] = {
    ITEMS: (neutral.render, neutral.parse),
    OPENAI_CHAT: (openai_chat.render, openai_chat.parse),
    OPENAI_RESPONSES: (openai_responses.render, openai_responses.parse),
    ANTHROPIC: (anthropic.render, anthropic.parse),
    GEMINI: (gemini.render, gemini.parse),
}

FORMATS: tuple[str, ...] = tuple(_SHAPES)
"""The names that ``render`` and ``parse`` know."""


def render(
    items: Sequence[dict[str, Any]],
    as_: str,
    *,
    system: str | None = None,
    tools: Sequence[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Items as the keyword arguments of a provider's call.

    ``items``: ``{"items", "system"?, "tools"?}``; ``openai-chat``: ``{"messages", "tools"?}``;
    ``openai-responses``: ``{"input", "instructions"?, "tools"?}``; ``anthropic``: ``{"system"?, "messages",
    "tools"?}``; ``gemini``: ``{"contents", "system_instruction"?,
    "tools"?}``. Nothing passed in is changed, but what comes out may share parts with it.
    Raises ``InvalidInput`` for a name that is not in ``FORMATS``.
    """
    return _shape(as_)[0](items, system, tools)


def parse(payload: Any, from_: str) -> Parsed:
    """A provider's request or response in neutral form.

    ``payload`` is what ``render`` gives for that format, a bare list of its messages, items or content
    blocks, or a response; as JSON objects or as the SDK's own ones.
    Raises ``InvalidInput`` when it is none of these, or for a name that is not in ``FORMATS``.
    """
    return _shape(from_)[1](payload)


def _shape(name: str) -> tuple[_Render, Callable[[Any], Parsed]]:
    try:
        return _SHAPES[name]
    except KeyError:
        raise InvalidInput(f"{name!r} is not a format; choose one of {', '.join(FORMATS)}") from None
