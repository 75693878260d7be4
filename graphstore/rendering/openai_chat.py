"""OpenAI Chat Completions: ``{"messages": […], "tools"?: […]}``.

A model's text and the tool calls after it are one assistant message here, so they are merged when rendering
and split when parsing. Each assistant message with calls is followed directly by their results. There is no
place for reasoning; it is left out. Tool messages and the assistant's hold text only: words stand in for what
else a part carries. Legacy ``function_call`` messages are read, and come out as tool calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphstore.errors import InvalidInput
from graphstore.rendering import tools as tool_shapes
from graphstore.rendering.order import answered_calls, results_in_place
from graphstore.rendering.parts import file_id_of, neutral_parts, read_part, said_text, url_of
from graphstore.rendering.shape import (
    OPENAI_CHAT,
    Json,
    Parsed,
    as_list,
    as_object,
    extra_of,
    given_back,
    kind_of,
    plain,
    raw,
    respelled,
    rest,
    role_of,
    speaker_of,
    text_of,
    with_extra,
)

_SPOKEN = ("user", "assistant", "system", "developer")


def render(items: Sequence[Json], system: str | None, tools: Sequence[Json] | None) -> Json:
    """The ``messages`` and ``tools`` of a Chat Completions request."""
    transcript = _Transcript()
    if system is not None:
        transcript.messages.append({"role": "system", "content": system})
    for _, item in results_in_place(items, answered_calls(items)):
        transcript.add(item)
    payload: Json = {"messages": transcript.messages}
    if tools:
        payload["tools"] = [tool_shapes.to_chat(tool) for tool in tools]
    return payload


class _Transcript:
    """Messages so far; ``_open`` is the assistant message that the model's next items belong to."""

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self._open: Json | None = None

    def add(self, item: Json) -> None:
        match kind_of(item):
            case "message":
                self._say(role_of(item), _content(item), extra_of(item, OPENAI_CHAT))
            case "tool_call":
                self._call(item)
            case "tool_result":
                self._close(
                    {"role": "tool", "tool_call_id": item["call_id"], "content": _result(item)}
                    | extra_of(item, OPENAI_CHAT)
                )
            case "reasoning":
                pass
            case _:
                self._other(item)

    def _say(self, role: str, content: str | list[Json] | None, fields: Json) -> None:
        if content is None:
            return
        message: Json = {"role": role, "content": content} | _beside(fields)
        if role != "assistant":
            self._close(message)
        elif self._open is not None and "tool_calls" in self._open:
            self._open["content"] = _joined(self._open["content"], message.pop("content"))
            self._open |= message
        else:
            self.messages.append(message)
            self._open = message

    def _call(self, item: Json) -> None:
        fields = dict(extra_of(item, OPENAI_CHAT))
        message_fields = fields.pop("message", None)
        own_message = isinstance(message_fields, dict)
        if self._open is None or (own_message and "tool_calls" not in self._open):
            self._open = {"role": "assistant", "content": None}
            self.messages.append(self._open)
        if own_message:
            self._open |= _beside(message_fields)
        call: Json = {"id": item["call_id"], "type": "function"} | fields
        if call["type"] == "custom":
            call["custom"] = {"name": respelled(item["name"]), "input": item["arguments"]}
        else:
            call["function"] = {"name": respelled(item["name"]), "arguments": item["arguments"]}
        self._open.setdefault("tool_calls", []).append(call)

    def _other(self, item: Json) -> None:
        native = given_back(item, OPENAI_CHAT)
        text = text_of(item)
        if native is not None:
            self._close(native)
        elif text is not None and item.get("format") != OPENAI_CHAT:
            self._say(speaker_of(item), text, {})

    def _close(self, message: Json) -> None:
        self._open = None
        self.messages.append(message)


def _beside(fields: Json) -> Json:
    """Kept fields without those that the items themselves make."""
    return {name: value for name, value in fields.items() if name not in ("role", "tool_calls")}


def _joined(first: Any, second: Any) -> Any:
    if not first or not second:
        return first or second
    return [
        part
        for content in (first, second)
        for part in ([{"type": "text", "text": content}] if isinstance(content, str) else content)
    ]


def _content(item: Json) -> str | list[Json] | None:
    """The content of a message; ``None`` if it had some, but nothing that this role can say here."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = neutral_parts(content)
    rendered = [native for part in parts if (native := _part(part, role_of(item))) is not None]
    return rendered or (None if parts else "")


def _part(part: Json, role: str) -> Json | None:
    fields = extra_of(part, OPENAI_CHAT)
    kind = part.get("type")
    if kind == "text" and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]} | fields
    if kind == "refusal" and isinstance(part.get("refusal"), str) and role == "assistant":
        return {"type": "refusal", "refusal": part["refusal"]} | fields
    if kind == "raw" and (native := given_back(part, OPENAI_CHAT)) is not None:
        return native
    if role == "user" and (native := _medium(part)) is not None:
        return native | fields
    text = said_text(part)
    return None if text is None else {"type": "text", "text": text}


def _medium(part: Json) -> Json | None:
    match part.get("type"):
        case "image":
            url = url_of(part, "image/png")
            detail = part.get("detail")
            image = {"url": url} | ({"detail": detail} if isinstance(detail, str) else {})
            return {"type": "image_url", "image_url": image} if url is not None else None
        case "audio" if isinstance(part.get("data"), str):
            return {
                "type": "input_audio",
                "input_audio": {"data": part["data"], "format": part.get("format", "wav")},
            }
        case "file":
            file: Json = {}
            if isinstance(part.get("data"), str):
                file["file_data"] = url_of(part)
            if (file_id := file_id_of(part, "openai")) is not None:
                file["file_id"] = file_id
            if file and isinstance(part.get("filename"), str):
                file["filename"] = part["filename"]
            return {"type": "file", "file": file} if file else None
    return None


def _result(item: Json) -> str | list[Json]:
    output = item.get("output")
    if isinstance(output, str):
        return output
    return [native for part in neutral_parts(output) if (native := _part(part, "tool")) is not None] or ""


def parse(payload: Any) -> Parsed:
    """Neutral form of a request, a list of messages, one message, or a ChatCompletion.

    A plain system message at the start becomes ``system``; any other system or developer message stays an
    item.
    """
    payload = plain(payload)
    tools = None
    if isinstance(payload, dict):
        if "choices" in payload:
            choices = as_list(payload["choices"], "choices")
            messages = [as_object(choices[0], "choices[0]").get("message")] if choices else []
        elif "role" in payload:
            messages = [payload]
        else:
            messages = payload.get("messages")  # type: ignore[assignment]
            tools = payload.get("tools")
    else:
        messages = payload
    items: list[Json] = []
    system = None
    for position, message in enumerate(as_list(messages, "messages")):
        message = as_object(message, f"message {position}")
        if position == 0 and set(message) == {"role", "content"} and _is_system_prompt(message):
            system = message["content"]
        else:
            after_assistant = bool(items) and items[-1].get("role") == "assistant"
            items.extend(_read(position, message, after_assistant))
    if tools is not None:
        tools = [tool_shapes.from_chat(as_object(tool, "a tool")) for tool in as_list(tools, "tools")]
    return Parsed(items, system, tools)


def _is_system_prompt(message: Json) -> bool:
    return message["role"] == "system" and isinstance(message["content"], str)


def _read(position: int, message: Json, after_assistant: bool) -> list[Json]:
    role = message.get("role")
    if not isinstance(role, str):
        raise InvalidInput(f"message {position} has no 'role'; Chat Completions messages are {{'role', 'content'}}")
    if role == "tool" and isinstance(message.get("tool_call_id"), str):
        return [_read_result(message, message["tool_call_id"], "role", "content", "tool_call_id")]
    if role == "function" and isinstance(message.get("name"), str):
        return [_read_result(message, _legacy_id(message["name"]), "role", "content", "name")]
    if role == "assistant":
        return _read_assistant(message, after_assistant)
    if role in _SPOKEN:
        item = {"type": "message", "role": role, "content": _read_content(message.get("content"))}
        return [with_extra(item, OPENAI_CHAT, rest(message, "role", "content"))]
    return [raw(OPENAI_CHAT, message)]


def _read_result(message: Json, call_id: str, *known: str) -> Json:
    result = {"type": "tool_result", "call_id": call_id, "output": _read_content(message.get("content"))}
    return with_extra(result, OPENAI_CHAT, rest(message, *known))


def _read_content(content: Any) -> str | list[Json]:
    content = plain(content)
    if content is None:
        return ""
    return content if isinstance(content, str) else [read_part(part, OPENAI_CHAT) for part in content]


def _read_assistant(message: Json, after_assistant: bool) -> list[Json]:
    calls = [_read_call(call) for call in as_list(message.get("tool_calls") or [], "tool_calls")]
    legacy = plain(message.get("function_call"))
    if isinstance(legacy, dict) and isinstance(legacy.get("name"), str):
        calls.append(
            {
                "type": "tool_call",
                "call_id": _legacy_id(legacy["name"]),
                "name": legacy["name"],
                "arguments": _text_or_empty(legacy.get("arguments")),
            }
        )
    content = plain(message.get("content"))
    fields = {
        name: value
        for name, value in rest(message, "role", "content", "tool_calls", "function_call").items()
        if not (name == "annotations" and value == [])
    }
    if content is not None or not calls:
        item = {"type": "message", "role": "assistant", "content": _read_content(content)}
        if content is None and isinstance(message.get("refusal"), str):
            item["content"] = [{"type": "refusal", "refusal": message["refusal"]}]
        if content is None and fields:
            fields = {"content": None} | fields
        return [with_extra(item, OPENAI_CHAT, fields), *calls]
    if fields or after_assistant:  # a message of calls only has no item of its own to keep this
        kept = calls[0].setdefault("extra", {}).setdefault(OPENAI_CHAT, {})
        kept["message"] = fields
    return calls


def _read_call(call: Any) -> Json:
    call = as_object(call, "a tool call")
    kind = "custom" if call.get("type") == "custom" else "function"
    called = as_object(call.get(kind), f"the {kind} of a tool call")
    name = _text_or_empty(called.get("name"))
    call_id = call.get("id")
    fields = rest(call, "id", kind) if kind == "custom" else rest(call, "id", "type", kind)
    item: Json = {
        "type": "tool_call",
        "call_id": call_id if isinstance(call_id, str) else _legacy_id(name),
        "name": name,
        "arguments": _text_or_empty(called.get("input" if kind == "custom" else "arguments")),
    }
    return with_extra(item, OPENAI_CHAT, fields)


def _legacy_id(name: str) -> str:
    """The call id of a legacy function call, which has none: its result pairs by the function's name."""
    return f"function_{name}"


def _text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""
