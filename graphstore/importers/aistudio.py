"""Google AI Studio's prompts: one JSON object a prompt, its ``chunkedPrompt.chunks`` in a line, some of them branches.

A chunk follows the one before it, unless its ``branchParent`` names another chunk of the prompt: then it is an
alternative there, and what comes after it follows it. Thoughts are chunks of their own. A chunk without an id goes by a
hash of all that was said up to it (``chains``). The end of the list is the active leaf.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from graphstore import jsontext
from graphstore.importers.chains import Beginnings, chain_key
from graphstore.importers.fields import array, mapping, moment, name, text
from graphstore.importers.lines import Values, sound, whole
from graphstore.importers.messages import Message, Side, grow
from graphstore.importers.pieces import Gathered
from graphstore.importers.records import ImportedConversation, Report
from graphstore.importers.told import pointed, tell
from graphstore.rendering.gemini_parts import read_part

SOURCE = "aistudio"

_FINISH = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter", "RECITATION": "content_filter"}
_MEDIA = re.compile(r"^(?:drive|inline|youtube)(Image|Document|Video|Audio|File)?$|^youtubeVideo$")
_ABOUT = frozenset({"chunkedPrompt", "displayName"})


def recognises(record: Any) -> bool:
    """Whether ``record`` is a prompt."""
    return isinstance(mapping(mapping(record).get("chunkedPrompt")).get("chunks"), list)


def read(values: Values, file: str) -> Iterator[ImportedConversation]:
    """Every prompt of a file; one without an id goes by the file's name and its beginning."""
    beginnings = Beginnings()
    aside = Report(None)
    for number, record in sound(values(), aside):
        yield whole(
            SOURCE,
            f"{file}[{number}]",
            lambda report, record=record: _conversation(record, file, beginnings, report),  # type: ignore[misc]
        )
    for note in aside.notes:
        report = Report(file, skipped=note)
        yield ImportedConversation(SOURCE, file, report)


def _conversation(record: dict[str, Any], file: str, beginnings: Beginnings, report: Report) -> ImportedConversation:
    chunks = array(mapping(record.get("chunkedPrompt")).get("chunks"))
    stem = file.rpartition("/")[2].partition(".")[0]
    given = name(record.get("id")) or name(record.get("name"))
    report.source_id = given or beginnings.source_id([stem, [_said(mapping(chunk)) for chunk in chunks[:1]]])
    report.title = text(record.get("displayName")) or (None if given else stem or None)
    settings = mapping(record.get("runSettings"))
    result = ImportedConversation(
        SOURCE,
        report.source_id,
        report,
        title=report.title,
        created_at=moment(record.get("createTime")),
        updated_at=moment(record.get("updateTime")),
        metadata={key: value for key, value in record.items() if key not in _ABOUT},
    )
    gathered, last = _gathered(chunks, report)
    tree = grow(gathered.messages(), report)
    if not tree.messages:
        report.skipped = "it has no chunks"
        return result
    model = (text(settings.get("model")) or "").removeprefix("models/") or None
    end = pointed(tree, last, "the last chunk", report)
    return tell(result, tree, end, provider="gemini", model=model, system=_system(record.get("systemInstruction")))


def _gathered(chunks: list[Any], report: Report) -> tuple[Gathered, str | None]:
    known = {key for chunk in chunks if (key := name(mapping(chunk).get("id"))) is not None}
    gathered = Gathered(report)
    before: str | None = None
    for number, chunk in enumerate(chunks):
        if not isinstance(chunk, dict):
            report.note("unknown_content", f"chunk {number} is no object but {str(chunk)[:80]!r}; left out")
            continue
        key = gathered.key(name(chunk.get("id")) or chain_key(before, _said(chunk)), chunk)
        if key is None:
            continue
        above = name(mapping(chunk.get("branchParent")).get("id"))
        if above is not None and above not in known:
            report.note(
                "orphan", f"chunk {key!r} branches off {above!r}, which is not there; it follows the one before it"
            )
            above = None
        gathered.add([_read(key, chunk, report)], above or before)
        before = key
    return gathered, before


def _said(chunk: dict[str, Any]) -> list[Any]:
    return [chunk.get("role"), {field: chunk[field] for field in sorted(chunk) if _holds(field)}]


def _holds(field: str) -> bool:
    spoken = ("text", "parts", "isThought", "executableCode", "codeExecutionResult", "functionCall", "functionResponse")
    return field in spoken or _MEDIA.match(field) is not None


def _read(key: str, chunk: dict[str, Any], report: Report) -> Message:
    role = chunk.get("role")
    message = Message(key, None, Side.SENT, [], created_at=moment(chunk.get("createTime")))
    message.notes = {field: value for field, value in chunk.items() if field not in ("text", "id", "role")}
    failure = text(chunk.get("errorMessage"))
    if role not in ("user", "model"):
        report.note("unknown_content", f"chunk {key!r} has the role {role!r}; kept raw")
        message.items = [{"type": "raw", "format": SOURCE, "data": chunk}]
        return message
    said = chunk.get("text")
    called, answered = mapping(chunk.get("functionCall")), mapping(chunk.get("functionResponse"))
    media = [_medium(field, value) for field, value in chunk.items() if _MEDIA.match(field)]
    code = [
        read_part({field: chunk[field]})
        for field in ("executableCode", "codeExecutionResult")
        if isinstance(chunk.get(field), dict)
    ]
    parts = ([{"type": "text", "text": said}] if isinstance(said, str) and said else []) + code + media
    if answered:
        call_id = name(answered.get("id")) or f"function_{name(answered.get('name')) or ''}"
        output = jsontext.dumps(answered.get("response", {}))
        message.items = [{"type": "tool_result", "call_id": call_id, "output": output}]
    elif role == "user":
        plain = len(parts) == 1 and parts[0]["type"] == "text"
        content = parts[0]["text"] if plain else parts or ""
        message.question = True
        message.items = [{"type": "message", "role": "user", "content": content}]
    else:
        message.side = Side.RETURNED
        _answer(chunk, parts, called, message)
        if failure is not None and not message.items:
            message.failure = failure
        finish = text(chunk.get("finishReason"))
        message.finish_reason = (
            "error" if failure is not None else _FINISH.get(finish, finish.lower()) if finish else None
        )
    return message


def _answer(chunk: dict[str, Any], parts: list[Any], called: dict[str, Any], message: Message) -> None:
    if chunk.get("isThought") is True:
        thought: dict[str, Any] = {"type": "reasoning", "text": text(chunk.get("text")) or ""}
        signatures = [mapping(part).get("thoughtSignature") for part in array(chunk.get("parts"))]
        if signature := next((each for each in signatures if isinstance(each, str)), None):
            thought["signature"] = signature
        message.items = [thought]
    elif parts:
        plain = len(parts) == 1 and parts[0]["type"] == "text"
        content = parts[0]["text"] if plain else parts
        message.items = [{"type": "message", "role": "assistant", "content": content}]
    if called:
        call_id = name(called.get("id")) or f"function_{name(called.get('name')) or ''}"
        arguments = jsontext.dumps(called.get("args", {}))
        tool = name(called.get("name")) or ""
        message.items.append({"type": "tool_call", "call_id": call_id, "name": tool, "arguments": arguments})


def _medium(field: str, value: Any) -> dict[str, Any]:
    """A picture or document: its bytes where they are in the prompt, otherwise what names it."""
    held = mapping(value)
    kind = "image" if field.endswith("Image") else "file"
    data, media_type = text(held.get("data")), text(held.get("mimeType"))
    if data is not None and media_type is not None:
        return {"type": "image" if media_type.startswith("image") else "file", "media_type": media_type, "data": data}
    return {"type": kind, "extra": {SOURCE: {field: value}}}


def _system(instruction: Any) -> str | None:
    said = text(instruction) or text(mapping(instruction).get("text"))
    if said:
        return said
    parts = [text(mapping(part).get("text")) for part in array(mapping(instruction).get("parts"))]
    return "\n".join(part for part in parts if part) or None
