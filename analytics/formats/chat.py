"""Chat messages as fine-tuning services take them: ``arguments`` as JSON text, calls and results joined by ids.

Only the fields that these services know are written; what a provider kept beside them stays in the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from graphstore.analytics.formats.projection import NotExpressible
from graphstore.context import Context
from graphstore.rendering.tools import to_chat

Json = dict[str, Any]

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


def messages(rendered: Iterable[Json]) -> Iterator[Json]:
    """Rendered messages, one for one. Raises ``NotExpressible`` at the first that has no form."""
    return map(_message, rendered)


def tools(context: Context) -> list[Json]:
    """The functions that a call could use; a provider's own tools are left out."""
    return [tool for tool in map(to_chat, context.settings.tools or ()) if tool.get("type") == "function"]


def _message(message: Json) -> Json:
    role = _ROLES.get(message["role"])
    if role is None:
        raise NotExpressible(f"a message of role {message['role']!r}")
    content = message.get("content")
    if content is None and role == "assistant":
        content = message.get("refusal")
    written: Json = {"role": role, "content": content if role == "user" else _text(content)}
    if isinstance(message.get("name"), str):
        written["name"] = message["name"]
    if role == "tool":
        written["tool_call_id"] = message["tool_call_id"]
    if role == "assistant" and message.get("tool_calls"):
        written["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    return written


def _text(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content
    texts = [part.get("text", part.get("refusal")) for part in content]
    strange = [part.get("type") for part, text in zip(content, texts, strict=True) if not isinstance(text, str)]
    if strange:
        raise NotExpressible(f"content of type {strange[0]!r}")
    return "".join(texts)


def _call(call: Json) -> Json:
    if call.get("type", "function") != "function":
        raise NotExpressible(f"a tool call of type {call.get('type')!r}")
    function = call["function"]
    return {
        "id": call["id"],
        "type": "function",
        "function": {"name": function["name"], "arguments": function["arguments"]},
    }
