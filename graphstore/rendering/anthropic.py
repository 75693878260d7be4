"""Anthropic Messages: ``{"system"?, "messages": […], "tools"?: […]}``.

- User and assistant alternate: what the same side says in a row is one message. Results stand first in the
  user message after their calls.
- System and developer messages at the start go into ``system``; later ones become user text in ``<system>``
  tags, except those that were parsed from a message of this API's own ``system`` role.
- Thinking is given back signed, in its place before what it led to; thinking that nothing follows is left
  out, because the API refuses it. So are text blocks with nothing in them.
- A call's ``arguments`` are JSON text in neutral form and an object here. Text that is no JSON object is sent
  as ``{"_raw": text}`` and parsed back to the same text; none at all is ``{}``.
- Call ids are unique and of letters, digits, ``_`` and ``-`` here; others are respelled, results alike.
- A conversation that starts with the assistant (after a compaction, say) gets a first user message,
  ``OPENING``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphstore.errors import InvalidInput
from graphstore.rendering import tools as tool_shapes
from graphstore.rendering.arguments import arguments_of, input_of
from graphstore.rendering.order import answered_calls, results_in_place, spelled_ids
from graphstore.rendering.parts import file_id_of, joined_text, neutral_parts, read_part, said_text
from graphstore.rendering.shape import (
    ANTHROPIC,
    OPENING,
    Json,
    Parsed,
    as_list,
    as_object,
    extra_of,
    given_back,
    has_extra,
    kind_of,
    plain,
    respelled,
    rest,
    role_of,
    speaker_of,
    text_of,
    with_extra,
)

_INSTRUCTING = ("system", "developer")

# What the API takes as bytes; for anything else words stand in.
_MEDIA_TYPES = {
    "image": frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"}),
    "file": frozenset({"application/pdf"}),
}

# Block types that only this API has: a stored item of such a type is its own, even if not wrapped as raw.
_OWN_TYPES = frozenset(
    {
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
    }
)


def render(items: Sequence[Json], system: str | None, tools: Sequence[Json] | None) -> Json:
    """The ``system``, ``messages`` and ``tools`` of an Anthropic request."""
    start = 0
    while start < len(items) and kind_of(items[start]) == "message" and role_of(items[start]) in _INSTRUCTING:
        start += 1
    instructions, items = items[:start], items[start:]
    payload: Json = {}
    if (top := _system(system, instructions)) is not None:
        payload["system"] = top
    answers = answered_calls(items)
    ids = spelled_ids(items, answers)
    dialogue = _Dialogue()
    for index, item in results_in_place(items, answers):
        _add(dialogue, item, ids.get(index, ""))
    payload["messages"] = dialogue.finished()
    if tools:
        payload["tools"] = [tool_shapes.to_anthropic(tool) for tool in tools]
    return payload


class _Dialogue:
    """Messages so far, one per side in turn."""

    def __init__(self) -> None:
        self._messages: list[Json] = []

    def add(self, role: str, content: str | list[Json]) -> None:
        """Something ``role`` says; text alone stays a plain string as long as nothing else joins it."""
        if not content:
            return
        if role != "assistant":
            self._drop_unfollowed_thinking()
        last = self._messages[-1] if self._messages else None
        if last is None or last["role"] != role:
            self._messages.append({"role": role, "content": content if isinstance(content, str) else list(content)})
            return
        if isinstance(last["content"], str):
            last["content"] = _blocks(last["content"])
        last["content"].extend(_blocks(content))

    def finished(self) -> list[Json]:
        """The messages of the request."""
        if self._messages and self._messages[0]["role"] == "assistant":
            self._messages.insert(0, {"role": "user", "content": OPENING})
        for message in self._messages:
            if message["role"] == "user" and isinstance(message["content"], list):
                message["content"].sort(key=lambda block: block.get("type") != "tool_result")
        return self._messages

    def _drop_unfollowed_thinking(self) -> None:
        if not self._messages or self._messages[-1]["role"] != "assistant":
            return
        blocks = self._messages[-1]["content"]
        while isinstance(blocks, list) and blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
            blocks.pop()
        if not blocks:
            self._messages.pop()


def _blocks(content: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _add(dialogue: _Dialogue, item: Json, wire_id: str) -> None:
    fields = extra_of(item, ANTHROPIC)
    match kind_of(item):
        case "message":
            _add_message(dialogue, item, fields)
        case "tool_call":
            block: Json = {
                "type": "tool_use",
                "id": wire_id,
                "name": respelled(item["name"]),
                "input": input_of(item["arguments"]),
            }
            dialogue.add("assistant", [block | _cache_marker(item) | fields])
        case "tool_result":
            block = {"type": "tool_result", "tool_use_id": wire_id}
            if content := _content(item.get("output"), "user"):
                block["content"] = content
            if item.get("is_error") is True:
                block["is_error"] = True
            dialogue.add("user", [block | _cache_marker(item) | fields])
        case "reasoning":
            if (thinking := _thinking(item, fields)) is not None:
                dialogue.add("assistant", [thinking])
        case _:
            own = given_back(item, ANTHROPIC, _OWN_TYPES)
            text = text_of(item)
            if own is not None:
                dialogue.add("user" if item.get("role") == "user" else "assistant", [own])
            elif text is not None and item.get("format") != ANTHROPIC:
                _add_message(dialogue, {"role": speaker_of(item), "content": text}, {})


def _add_message(dialogue: _Dialogue, item: Json, fields: Json) -> None:
    role = role_of(item)
    if role not in _INSTRUCTING:
        dialogue.add(role, _content(item.get("content"), role))
    elif fields.get("role") == "system":
        dialogue.add("system", _content(item.get("content"), "system"))
    else:
        text = joined_text(neutral_parts(item.get("content")))
        if text.strip():
            dialogue.add("user", f"<system>\n{text}\n</system>")


def _content(content: Any, role: str) -> str | list[Json]:
    """What ``role`` can say of it here; empty if nothing."""
    if isinstance(content, str):
        return content if content.strip() else ""
    return [block for part in neutral_parts(content) if (block := _block(part, role)) is not None]


def _block(part: Json, role: str) -> Json | None:
    fields = _cache_marker(part) | extra_of(part, ANTHROPIC)
    if (native := given_back(part, ANTHROPIC)) is not None:
        return native
    if role == "user" and (source := _source(part)) is not None:
        if part["type"] == "image":
            return {"type": "image", "source": source} | fields
        title = {"title": part["filename"]} if isinstance(part.get("filename"), str) else {}
        return {"type": "document", "source": source} | title | fields
    text = said_text(part)
    if text is None or not text.strip():
        return None
    return {"type": "text", "text": text} | (fields if part.get("type") == "text" else {})


def _source(part: Json) -> Json | None:
    if part.get("type") not in ("image", "file"):
        return None
    assumed = "image/png" if part["type"] == "image" else "application/pdf"
    media_type = part["media_type"] if isinstance(part.get("media_type"), str) else assumed
    if isinstance(part.get("data"), str):
        if media_type not in _MEDIA_TYPES[part["type"]]:
            return None
        return {"type": "base64", "media_type": media_type, "data": part["data"]}
    if isinstance(part.get("url"), str):
        return {"type": "url", "url": part["url"]}
    if part["type"] == "file" and isinstance(part.get("text"), str):
        return {"type": "text", "media_type": "text/plain", "data": part["text"]}
    file_id = file_id_of(part, "anthropic")
    return None if file_id is None else {"type": "file", "file_id": file_id}


def _thinking(item: Json, fields: Json) -> Json | None:
    """The block, if it is this provider's: signed, or marked as redacted when it was parsed."""
    foreign = isinstance(item.get("extra"), dict) and item["extra"] and not has_extra(item, ANTHROPIC)
    if foreign:
        return None
    if isinstance(item.get("signature"), str):
        text = item.get("text")
        block = {
            "type": "thinking",
            "thinking": text if isinstance(text, str) else "",
            "signature": item["signature"],
        }
        return block | fields
    if fields.get("type") == "redacted_thinking" and isinstance(item.get("encrypted"), str):
        return {"type": "redacted_thinking", "data": item["encrypted"]} | fields
    return None


def _cache_marker(neutral: Json) -> Json:
    """``cache_control`` written straight on an item or part, for those who build items by hand."""
    marker = neutral.get("cache_control")
    return {"cache_control": marker} if isinstance(marker, dict) else {}


def _system(system: str | None, instructions: Sequence[Json]) -> str | list[Json] | None:
    if not instructions:
        return system
    contents = [_content(item.get("content"), "system") for item in instructions]
    if system is not None and system.strip():
        contents.insert(0, system)
    contents = [content for content in contents if content]
    if len(contents) == 1:
        return contents[0]
    return [block for content in contents for block in _blocks(content)] or system


def parse(payload: Any) -> Parsed:
    """Neutral form of a request, a list of messages or of content blocks, or a Message.

    ``system`` as text stays apart; as blocks (which may hold cache markers) it becomes a system message in
    front.
    """
    payload = plain(payload)
    items: list[Json] = []
    system = tools = None
    if isinstance(payload, dict) and "messages" in payload:
        system, tools, messages = plain(payload.get("system")), payload.get("tools"), payload["messages"]
    else:
        messages = [payload] if isinstance(payload, dict) else payload
    if isinstance(system, list):
        blocks = [read_part(block, ANTHROPIC) for block in system]
        items.append({"type": "message", "role": "system", "content": blocks})
        system = None
    read = as_list(messages, "messages")
    if read and all(isinstance(block, dict) and "role" not in block and "type" in block for block in read):
        read = [{"role": "assistant", "content": read}]
    for position, message in enumerate(read):
        items.extend(_read(position, as_object(message, f"message {position}")))
    if tools is not None:
        tools = [tool_shapes.from_anthropic(as_object(tool, "a tool")) for tool in as_list(tools, "tools")]
    return Parsed(items, system, tools)


def _read(position: int, message: Json) -> list[Json]:
    role, content = message.get("role"), plain(message.get("content"))
    if role not in ("user", "assistant", "system") or not isinstance(content, str | list):
        raise InvalidInput(
            f"message {position} needs a 'role' (user, assistant or system) and 'content' (text or blocks), "
            "as Anthropic's messages have"
        )
    spoken = _spoken(role, content) if isinstance(content, str) else None
    if spoken is not None:
        return [spoken]
    items: list[Json] = []
    parts: list[Json] = []
    for block in as_list(content, "content"):
        if (item := _read_block(block)) is None:
            parts.append(read_part(block, ANTHROPIC))
            continue
        if parts:
            items.append(_spoken(role, parts))
            parts = []
        items.append(item)
    return [*items, _spoken(role, parts)] if parts else items


def _spoken(role: str, content: str | list[Json]) -> Json:
    item = {"type": "message", "role": role, "content": content}
    return with_extra(item, ANTHROPIC, {"role": "system"} if role == "system" else {})


def _read_block(block: Any) -> Json | None:
    """The item that a block is by itself; ``None`` if it is a part of a message."""
    match block:
        case {"type": "tool_use", "id": str(call_id), "name": str(name), "input": value}:
            item: Json = {
                "type": "tool_call",
                "call_id": call_id,
                "name": name,
                "arguments": arguments_of(value),
            }
            return with_extra(item, ANTHROPIC, rest(block, "type", "id", "name", "input"))
        case {"type": "tool_result", "tool_use_id": str(call_id)}:
            content = plain(block.get("content"))
            output = [read_part(part, ANTHROPIC) for part in content] if isinstance(content, list) else content
            item = {"type": "tool_result", "call_id": call_id, "output": "" if output is None else output}
            if block.get("is_error"):
                item["is_error"] = True
            return with_extra(item, ANTHROPIC, rest(block, "type", "tool_use_id", "content", "is_error"))
        case {"type": "thinking", "thinking": str(text)}:
            item = {"type": "reasoning", "text": text}
            if isinstance(block.get("signature"), str):
                item["signature"] = block["signature"]
            return with_extra(item, ANTHROPIC, rest(block, "type", "thinking", "signature"))
        case {"type": "redacted_thinking", "data": str(data)}:
            return with_extra({"type": "reasoning", "encrypted": data}, ANTHROPIC, rest(block, "data"))
    return None
