"""OpenAI Responses: ``{"input": […], "instructions"?, "tools"?: […]}``.

Reasoning goes back with its id, summary and encrypted content, if it came from here. Items without a neutral
word (web searches, compactions, approvals, …) are kept raw and given back. A custom tool's call is a tool
call whose arguments are its free text. Reasoning that nothing of the model's follows is left out, because the
API refuses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphstore.errors import InvalidInput
from graphstore.rendering import tools as tool_shapes
from graphstore.rendering.order import answered_calls, from_model, results_in_place
from graphstore.rendering.parts import file_id_of, joined_text, neutral_parts, read_part, said_text, url_of
from graphstore.rendering.shape import (
    OPENAI_RESPONSES,
    Json,
    Parsed,
    as_list,
    as_object,
    extra_of,
    given_back,
    has_extra,
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

# Item types that only this API has: a stored item of such a type is its own, even if not wrapped as raw.
_OWN_TYPES = frozenset(
    {
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "web_search_call",
        "file_search_call",
        "computer_call",
        "computer_call_output",
        "code_interpreter_call",
        "image_generation_call",
        "local_shell_call",
        "local_shell_call_output",
        "shell_call",
        "shell_call_output",
        "apply_patch_call",
        "apply_patch_call_output",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "item_reference",
        "compaction",
        "compaction_trigger",
        "tool_search_call",
        "tool_search_output",
    }
)


def render(items: Sequence[Json], system: str | None, tools: Sequence[Json] | None) -> Json:
    """The ``input``, ``instructions`` and ``tools`` of a Responses request."""
    sent: list[Json] = []
    for _, item in results_in_place(items, answered_calls(items)):
        native = _native(item)
        if native is None:
            continue
        if not from_model(item):
            while sent and sent[-1].get("type") == "reasoning":
                sent.pop()
        sent.append(native)
    payload: Json = {"input": sent}
    if system is not None:
        payload["instructions"] = system
    if tools:
        payload["tools"] = [tool_shapes.to_responses(tool) for tool in tools]
    return payload


def _native(item: Json) -> Json | None:
    fields = extra_of(item, OPENAI_RESPONSES)
    match kind_of(item):
        case "message":
            return _message(item, fields)
        case "tool_call":
            call: Json = {"type": "function_call", "call_id": item["call_id"], "name": respelled(item["name"])} | fields
            call["input" if call["type"] == "custom_tool_call" else "arguments"] = item["arguments"]
            return call
        case "tool_result":
            result = {"type": "function_call_output", "call_id": item["call_id"], "output": _output(item)}
            return result | fields
        case "reasoning":
            return _reasoning(item, fields)
        case _:
            own = given_back(item, OPENAI_RESPONSES, _OWN_TYPES)
            text = text_of(item)
            if own is not None or text is None or item.get("format") == OPENAI_RESPONSES:
                return own
            return {"role": speaker_of(item), "content": text}


def _message(item: Json, fields: Json) -> Json | None:
    role = role_of(item)
    content = item.get("content")
    if not isinstance(content, str):
        parts = neutral_parts(content)
        if role != "assistant":
            content = [native for part in parts if (native := _input_part(part)) is not None]
        elif "id" in fields or any(has_extra(part, OPENAI_RESPONSES) for part in parts):
            content = [native for part in parts if (native := _output_part(part, "id" in fields)) is not None]
        else:  # output parts belong to messages that this API made; text is what it takes from elsewhere
            content = joined_text(parts)
        if parts and not content:
            return None
        content = content or ""
    return {"role": role, "content": content} | fields


def _input_part(part: Json) -> Json | None:
    fields = extra_of(part, OPENAI_RESPONSES)
    match part.get("type"):
        case "text" if isinstance(part.get("text"), str):
            return {"type": "input_text", "text": part["text"]} | fields
        case "raw" if (native := given_back(part, OPENAI_RESPONSES)) is not None:
            return native
        case "image" if image := _located(part, "image_url", url_of(part, "image/png")):
            detail = part.get("detail") if isinstance(part.get("detail"), str) else "auto"
            return {"type": "input_image", "detail": detail} | image | fields
        case "file" if not isinstance(part.get("text"), str):
            held = "file_data" if isinstance(part.get("data"), str) else "file_url"
            file = _located(part, held, url_of(part))
            if held == "file_data" and isinstance(part.get("url"), str):
                file["file_url"] = part["url"]
            if isinstance(part.get("filename"), str) and file:
                file["filename"] = part["filename"]
            if file:
                return {"type": "input_file"} | file | fields
    text = said_text(part)
    return None if text is None else {"type": "input_text", "text": text}


def _located(part: Json, name: str, url: str | None) -> Json:
    file_id = file_id_of(part, "openai")
    return ({name: url} if url is not None else {}) | ({"file_id": file_id} if file_id is not None else {})


def _output_part(part: Json, whole: bool) -> Json | None:
    """A part of the assistant's; ``whole`` if the message has an id, where annotations are required."""
    fields = extra_of(part, OPENAI_RESPONSES)
    match part.get("type"):
        case "raw" if (native := given_back(part, OPENAI_RESPONSES)) is not None:
            return native
        case "refusal" if isinstance(part.get("refusal"), str):
            return {"type": "refusal", "refusal": part["refusal"]} | fields
    text = said_text(part)
    if text is None:
        return None
    return {"type": "output_text", "text": text} | ({"annotations": []} if whole else {}) | fields


def _output(item: Json) -> str | list[Json]:
    output = item.get("output")
    if isinstance(output, str):
        return output
    return [native for part in neutral_parts(output) if (native := _input_part(part)) is not None] or ""


def _reasoning(item: Json, fields: Json) -> Json | None:
    """The block, if it is this provider's and complete enough to be accepted."""
    encrypted, summary = item.get("encrypted"), item.get("summary")
    foreign = isinstance(item.get("extra"), dict) and item["extra"] and not has_extra(item, OPENAI_RESPONSES)
    if foreign or item.get("signature") is not None:
        return None
    if not isinstance(encrypted, str) and not fields:
        return None
    texts = [text for text in summary if isinstance(text, str)] if isinstance(summary, list) else []
    block: Json = {"type": "reasoning", "summary": [{"type": "summary_text", "text": text} for text in texts]}
    if isinstance(encrypted, str):
        block["encrypted_content"] = encrypted
    return block | fields


def parse(payload: Any) -> Parsed:
    """Neutral form of a request, its ``input``, a list of items, or a Response (its ``output`` only)."""
    payload = plain(payload)
    system = tools = None
    if isinstance(payload, dict):
        if "output" in payload and payload.get("type") is None:
            payload = payload["output"]
        elif "input" in payload and payload.get("type") is None:
            system, tools, payload = payload.get("instructions"), payload.get("tools"), payload["input"]
        elif "type" in payload or "role" in payload:
            payload = [payload]
        else:
            raise InvalidInput("a Responses payload has 'input' (a request) or 'output' (a response)")
    if isinstance(payload, str):
        payload = [{"role": "user", "content": payload}]
    items = [_read(as_object(item, f"item {n}")) for n, item in enumerate(as_list(payload, "input"))]
    if tools is not None:
        tools = [tool_shapes.from_responses(as_object(tool, "a tool")) for tool in as_list(tools, "tools")]
    if isinstance(system, list):  # a Response echoes instructions as items
        items, system = [_read(as_object(item, "an instruction")) for item in system] + items, None
    return Parsed(items, system, tools)


def _read(item: Json) -> Json:
    kind = item.get("type", "message" if "role" in item else None)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    return (reader(item) if reader else None) or raw(OPENAI_RESPONSES, item)


def _read_message(item: Json) -> Json | None:
    role, content = item.get("role"), plain(item.get("content"))
    if role not in ("user", "assistant", "system", "developer") or not isinstance(content, str | list):
        return None
    if isinstance(content, list):
        content = [read_part(part, OPENAI_RESPONSES) for part in content]
        if role == "assistant" and item.get("id") is None:
            for part in content:  # tells that output parts, not text, were here
                if part["type"] != "raw":
                    kept = part.setdefault("extra", {}).setdefault(OPENAI_RESPONSES, {})
                    kept["type"] = "refusal" if part["type"] == "refusal" else "output_text"
    message = {"type": "message", "role": role, "content": content}
    return with_extra(message, OPENAI_RESPONSES, rest(item, "role", "content"))


def _read_call(item: Json) -> Json | None:
    custom = item["type"] == "custom_tool_call"
    arguments = item.get("input" if custom else "arguments")
    if not all(isinstance(value, str) for value in (item.get("call_id"), item.get("name"), arguments)):
        return None
    call = {"type": "tool_call", "call_id": item["call_id"], "name": respelled(item["name"]), "arguments": arguments}
    known = ("call_id", "name", "input") if custom else ("type", "call_id", "name", "arguments")
    return with_extra(call, OPENAI_RESPONSES, rest(item, *known))


def _read_result(item: Json) -> Json | None:
    output = plain(item.get("output"))
    if not isinstance(item.get("call_id"), str) or not isinstance(output, str | list):
        return None
    if isinstance(output, list):
        output = [read_part(part, OPENAI_RESPONSES) for part in output]
    result = {"type": "tool_result", "call_id": item["call_id"], "output": output}
    known = ("call_id", "output") if item["type"] == "custom_tool_call_output" else ("type", "call_id", "output")
    return with_extra(result, OPENAI_RESPONSES, rest(item, *known))


def _read_reasoning(item: Json) -> Json | None:
    summary = plain(item.get("summary") or [])
    blocks = [plain(block) for block in summary] if isinstance(summary, list) else [None]
    texts = [block["text"] for block in blocks if isinstance(block, dict) and set(block) == {"type", "text"}]
    if len(texts) < len(blocks) or not all(isinstance(text, str) for text in texts):
        return None
    reasoning: Json = {"type": "reasoning", "summary": texts}
    if isinstance(item.get("encrypted_content"), str):
        reasoning["encrypted"] = item["encrypted_content"]
    content = plain(item.get("content"))
    if isinstance(content, list) and content:
        reasoning["text"] = joined_text(neutral_parts([plain(block) for block in content]))
    return with_extra(reasoning, OPENAI_RESPONSES, rest(item, "type", "summary", "encrypted_content"))


_READERS = {
    "message": _read_message,
    "function_call": _read_call,
    "custom_tool_call": _read_call,
    "function_call_output": _read_result,
    "custom_tool_call_output": _read_result,
    "reasoning": _read_reasoning,
}
