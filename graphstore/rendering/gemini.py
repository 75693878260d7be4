"""Google Gemini: ``{"contents": […], "system_instruction"?, "tools"?: […]}``.

The REST API takes this as its request body; google-genai takes ``contents`` beside ``model``, and the other two in its
``config``.

- Roles are ``user`` and ``model``; what the same side says in a row is one content. The responses of a content's
  calls stand in the user content that follows it.
- System and developer messages at the start go into ``system_instruction``; later ones become user text in
  ``<system>`` tags.
- A ``thoughtSignature`` stays on the very part it came with: a call, a text, a thought. Thoughts of other providers
  are left out.
- A result is ``{"output": text}``, or ``{"error": text}`` if it failed; images and files go beside it. Any other
  response object is a result whose output is its JSON text.
- Calls without an id (as Vertex AI makes them) get one of the function's name, which isn't sent back.
- A conversation that starts with the model gets a first user content, ``OPENING``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphstore.errors import InvalidInput
from graphstore.rendering import tools as tool_shapes
from graphstore.rendering.arguments import arguments_of, input_of
from graphstore.rendering.gemini_parts import as_json, kind_of_part, media_part, native_part, read_part, spelled
from graphstore.rendering.order import answered_calls, results_in_place, spelled_ids
from graphstore.rendering.parts import joined_text, neutral_parts
from graphstore.rendering.shape import (
    GEMINI,
    OPENING,
    Json,
    Parsed,
    as_list,
    as_object,
    extra_of,
    given_back,
    has_extra,
    kind_of,
    rest,
    role_of,
    speaker_of,
    text_of,
    with_extra,
)

_INSTRUCTING = ("system", "developer")

# Kept with a call or result that came without an id, so that it goes back without one.
_WITHOUT_ID = "without_id"
# Kept with a result whose output is the JSON text of the whole response object.
_WHOLE = "whole_response"


def render(items: Sequence[Json], system: str | None, tools: Sequence[Json] | None) -> Json:
    """The ``contents``, ``system_instruction`` and ``tools`` of a Gemini request."""
    start = 0
    while start < len(items) and kind_of(items[start]) == "message" and role_of(items[start]) in _INSTRUCTING:
        start += 1
    instructions, items = items[:start], items[start:]
    payload: Json = {"contents": _contents(items)}
    said = [{"text": system}] if system else []
    said += [part for item in instructions for part in _said(item.get("content"))]
    if said:
        payload["system_instruction"] = {"parts": said}
    if tools:
        payload["tools"] = tool_shapes.to_gemini(tools)
    return payload


def _contents(items: Sequence[Json]) -> list[Json]:
    answers = answered_calls(items)
    ids = spelled_ids(items, answers, spell=str)
    contents: list[Json] = []
    for index, item in results_in_place(items, answers):
        call = items[answers[index]] if index in answers else None
        role, parts = _parts(item, ids.get(index, ""), call)
        if not parts:
            continue
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"].extend(parts)
        else:
            contents.append({"role": role, "parts": parts})
    if contents and contents[0]["role"] == "model":
        contents.insert(0, {"role": "user", "parts": [{"text": OPENING}]})
    return contents


def _parts(item: Json, wire_id: str, call: Json | None) -> tuple[str, list[Json]]:
    """Who says an item, and the parts it is; ``call`` is the one that a result answers."""
    match kind_of(item):
        case "message":
            return _message(item)
        case "tool_call":
            return "model", [_call(item, wire_id)]
        case "tool_result":
            return "user", [_response(item, wire_id, call)]
        case "reasoning":
            return "model", _thought(item)
        case _:
            own = given_back(item, GEMINI)
            text = text_of(item)
            if own is not None:
                return ("user" if item.get("role") == "user" else "model"), [own]
            if text is None or item.get("format") == GEMINI:
                return "model", []
            return _message({"role": speaker_of(item), "content": text})


def _message(item: Json) -> tuple[str, list[Json]]:
    role = role_of(item)
    if role in _INSTRUCTING:
        text = joined_text(neutral_parts(item.get("content")))
        return "user", [{"text": f"<system>\n{text}\n</system>"}] if text.strip() else []
    return ("model" if role == "assistant" else "user"), _said(item.get("content"))


def _said(content: Any) -> list[Json]:
    return [native for part in neutral_parts(content) if (native := native_part(part)) is not None]


def _call(item: Json, wire_id: str) -> Json:
    fields = dict(extra_of(item, GEMINI))
    inner = fields.pop("functionCall", None)
    call: Json = {} if fields.pop(_WITHOUT_ID, False) else {"id": wire_id}
    call |= {"name": tool_shapes.gemini_name(item["name"]), "args": input_of(item["arguments"])}
    return {"functionCall": call | (inner if isinstance(inner, dict) else {})} | fields


def _response(item: Json, wire_id: str, call: Json | None) -> Json:
    fields = dict(extra_of(item, GEMINI))
    inner = fields.pop("functionResponse", None)
    name, without_id, whole = fields.pop("name", None), fields.pop(_WITHOUT_ID, False), fields.pop(_WHOLE, False)
    if call is not None:
        name, without_id = call["name"], extra_of(call, GEMINI).get(_WITHOUT_ID, False)
    response: Json = {} if without_id else {"id": wire_id}
    response["name"] = tool_shapes.gemini_name(name if isinstance(name, str) else item["call_id"])
    parts = neutral_parts(item.get("output"))
    media = [media_part(part) for part in parts]
    text = joined_text(part for part, sent in zip(parts, media, strict=True) if sent is None)
    if whole:
        response["response"] = input_of(text)
    else:
        response["response"] = {"error" if item.get("is_error") is True else "output": text}
    if beside := [sent for sent in media if sent is not None]:
        response["parts"] = beside
    return {"functionResponse": response | (inner if isinstance(inner, dict) else {})} | fields


def _thought(item: Json) -> list[Json]:
    """The part, if it is this provider's."""
    if not has_extra(item, GEMINI):
        return []
    text, signature = item.get("text"), item.get("signature")
    part: Json = {"text": text if isinstance(text, str) else "", "thought": True}
    if isinstance(signature, str):
        part["thoughtSignature"] = signature
    return [part | extra_of(item, GEMINI)]


def parse(payload: Any) -> Parsed:
    """Neutral form of a request, a list of contents or of parts, or a GenerateContentResponse (its first candidate).

    A system instruction of one plain text stays apart; any other becomes a system message in front.
    """
    if hasattr(payload, "candidates"):
        payload = {"candidates": payload.candidates}
    payload = as_json(payload)
    system = tools = None
    if isinstance(payload, dict) and "candidates" in payload:
        contents = _candidate(payload["candidates"])
    elif isinstance(payload, dict) and "contents" in payload:
        config = as_json(payload.get("config")) or {}
        settings = {**as_object(config, "'config'"), **payload}
        system = settings.get("system_instruction", settings.get("systemInstruction"))
        tools, contents = settings.get("tools"), payload["contents"]
    else:
        contents = payload
    items, system = _instructions(system)
    reader = _Reader()
    for position, content in enumerate(_listed(contents)):
        items.extend(reader.read(position, content))
    if tools is not None:
        listed = [as_object(tool, "a tool") for tool in _list(tools, "tools")]
        tools = [neutral for tool in listed for neutral in tool_shapes.from_gemini(tool)]
    return Parsed(items, system, tools)


def _candidate(candidates: Any) -> list[Json]:
    for candidate in _list(candidates or [], "candidates"):
        content = as_json(as_object(candidate, "a candidate").get("content"))
        return [] if content is None else [{"role": "model", **as_object(content, "a candidate's 'content'")}]
    return []


def _listed(contents: Any) -> list[Any]:
    """Contents as a list; parts alone are what the model said, text alone is what the user did."""
    contents = as_json(contents)
    if isinstance(contents, str) or (isinstance(contents, dict) and "parts" in contents):
        return [contents]
    if isinstance(contents, dict):
        raise InvalidInput("a Gemini payload has 'contents' (a request), 'candidates' (a response) or 'parts'")
    listed = _list(contents, "contents")
    bare = [isinstance(part, dict) and kind_of_part(spelled(part)) is not None for part in listed]
    return [{"role": "model", "parts": listed}] if listed and all(bare) else listed


def _instructions(instruction: Any) -> tuple[list[Json], str | None]:
    """A system instruction as items in front, or as the prompt it is."""
    instruction = as_json(instruction)
    if instruction is None or isinstance(instruction, str):
        return [], instruction
    if isinstance(instruction, dict):
        instruction = instruction.get("parts", [instruction])
    parts = [_part(part) for part in _list(instruction, "system_instruction")]
    match parts:
        case [{"text": str(text), **others}] if not others:
            return [], text
    return [{"type": "message", "role": "system", "content": [read_part(part) for part in parts]}], None


def _list(value: Any, what: str) -> list[Any]:
    return as_list([as_json(element) for element in value] if isinstance(value, list | tuple) else value, what)


def _part(part: Any) -> Json:
    return {"text": part} if isinstance(part, str) else spelled(as_object(part, "a part"))


class _Reader:
    """Reads contents in a row; numbers the calls and responses that come without an id.

    The first of a function's on a side's move is ``function_<name>``, the second ``function_<name>_2``: alike for
    calls and responses, so that they pair wherever the other was parsed.
    """

    def __init__(self) -> None:
        self._role = ""
        self._uses: dict[str, int] = {}

    def read(self, position: int, content: Any) -> list[Json]:
        if isinstance(content, str):
            content = {"role": "user", "parts": [{"text": content}]}
        if isinstance(content, dict) and "parts" not in content and "role" not in content and content:
            content = {"role": "user", "parts": [content]}
        role = content.get("role") or "user" if isinstance(content, dict) else None
        if role not in ("user", "model", "function"):
            raise InvalidInput(
                f"content {position} needs a 'role' (user or model) and 'parts', as Gemini's contents have"
            )
        role = "assistant" if role == "model" else "user"
        if role != self._role:
            self._role, self._uses = role, {}
        items: list[Json] = []
        parts: list[Json] = []
        for native in _list(content.get("parts") or [], "parts"):
            part = _part(native)
            item = self._item(part)
            if item is None:
                parts.append(read_part(part))
                continue
            if parts:
                items.append(_spoken(role, parts))
                parts = []
            items.append(item)
        return [*items, _spoken(role, parts)] if parts else items

    def _item(self, part: Json) -> Json | None:
        """The item that a part is by itself; ``None`` if it is a part of a message."""
        match part:
            case {"functionCall": {"name": str(name)} as call} if kind_of_part(part):
                return self._read_call(part, call, name)
            case {"functionResponse": {"response": dict(response)} as answer} if kind_of_part(part):
                return self._read_response(part, answer, response)
            case {"text": str(text), "thought": True} if kind_of_part(part):
                item: Json = {"type": "reasoning", "text": text}
                if isinstance(part.get("thoughtSignature"), str):
                    item["signature"] = part["thoughtSignature"]
                return with_extra(item, GEMINI, rest(part, "text", "thoughtSignature"))
        return None

    def _read_call(self, part: Json, call: Json, name: str) -> Json:
        call_id, fields = self._id(call, name)
        args = call.get("args")
        item = {
            "type": "tool_call",
            "call_id": call_id,
            "name": name,
            "arguments": arguments_of({} if args is None else args),
        }
        if others := rest(call, "id", "name", "args"):
            fields["functionCall"] = others
        return with_extra(item, GEMINI, fields | rest(part, "functionCall"))

    def _read_response(self, part: Json, answer: Json, response: Json) -> Json:
        name = answer["name"] if isinstance(answer.get("name"), str) else ""
        call_id, fields = self._id(answer, name)
        if name:
            fields["name"] = name
        item: Json = {"type": "tool_result", "call_id": call_id}
        match response:
            case {"output": str(text), **others} if not others:
                item["output"] = text
            case {"error": str(text), **others} if not others:
                item |= {"output": text, "is_error": True}
            case _:
                item["output"] = arguments_of(response)
                fields[_WHOLE] = True
        known = ["id", "name", "response"]
        beside = answer.get("parts")
        if isinstance(beside, list) and beside:
            media = [read_part(spelled(media)) for media in beside if isinstance(media, dict)]
            if len(media) == len(beside) and all(media_part(read) and "extra" not in read for read in media):
                item["output"] = [{"type": "text", "text": item["output"]}, *media]
                known.append("parts")
        if left := rest(answer, *known):
            fields["functionResponse"] = left
        return with_extra(item, GEMINI, fields | rest(part, "functionResponse"))

    def _id(self, native: Json, name: str) -> tuple[str, Json]:
        if isinstance(native.get("id"), str) and native["id"]:
            return native["id"], {}
        self._uses[name] = self._uses.get(name, 0) + 1
        number = self._uses[name]
        return f"function_{name}" + (f"_{number}" if number > 1 else ""), {_WITHOUT_ID: True}


def _spoken(role: str, parts: list[Json]) -> Json:
    """A message; plain text alone is a string."""
    match parts:
        case [{"type": "text", "text": text, **others}] if not others:
            return {"type": "message", "role": role, "content": text}
    return {"type": "message", "role": role, "content": parts}
