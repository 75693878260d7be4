"""The web UI of llama.cpp's server: a ``session`` line, then ``message`` lines; or ``{"conv", "messages"}`` objects.

``parent`` is the tree, ``children`` orders it, ``currNode`` is the active leaf (older versions leave it empty, and then
the newest is taken). The root holds nothing. A file may hold many sessions; one at a time is in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from graphstore import jsontext
from graphstore.importers.fields import array, mapping, moment, name, text
from graphstore.importers.lines import Parsed, Values, sound, whole
from graphstore.importers.messages import Message, Side, grow
from graphstore.importers.pieces import Gathered
from graphstore.importers.records import ImportedConversation, Items, Report
from graphstore.importers.told import pointed, tell
from graphstore.rendering.parts import at_url

SOURCE = "llamacpp"

_SAID = ("id", "parent", "children", "role", "content", "convId")


def recognises(record: Any) -> bool:
    """Whether ``record`` is a line of a session, or a conversation with its messages."""
    if not isinstance(record, dict):
        return False
    if record.get("type") == "session":
        return "currNode" in record
    if record.get("type") == "message":
        return "convId" in mapping(record.get("message"))
    return isinstance(record.get("conv"), dict) and isinstance(record.get("messages"), list)


def read(values: Values, file: str) -> Iterator[ImportedConversation]:
    """Every session of a file."""
    for number, lines in enumerate(_sessions(values())):
        yield whole(SOURCE, f"{file}[{number}]", lambda report, lines=lines: _conversation(lines, report))  # type: ignore[misc]


def _sessions(records: Iterator[Parsed]) -> Iterator[list[Parsed]]:
    lines: list[Parsed] = []
    for parsed in records:
        record = mapping(parsed.value)
        if lines and (record.get("type") == "session" or "conv" in record):
            yield lines
            lines = []
        lines.append(parsed)
    if lines:
        yield lines


def _conversation(lines: list[Parsed], report: Report) -> ImportedConversation:
    session: dict[str, Any] = {}
    messages: list[Any] = []
    for number, record in sound(lines, report):
        if record.get("type") == "message":
            messages.append(record.get("message"))
        elif record.get("type") == "session" or "conv" in record:
            session = mapping(record.get("conv")) or record
            messages += array(record.get("messages"))
        else:
            report.note("unknown_content", f"record {number} is neither a session nor a message; left out")
    first = next((name(mapping(each).get("convId")) for each in messages), None)
    report.source_id = name(session.get("id")) or first or report.source_id
    report.title = text(session.get("name"))
    result = ImportedConversation(
        SOURCE,
        report.source_id or "",
        report,
        title=report.title,
        updated_at=moment(session.get("lastModified")),
        metadata={key: value for key, value in session.items() if key not in ("type", "name", "messages")},
    )
    tree = grow(_messages(messages, report), report)
    if not any(message.items for message in tree.messages):
        report.skipped = "it has no messages"
        return result
    return tell(result, tree, pointed(tree, name(session.get("currNode")), "currNode", report))


def _messages(records: list[Any], report: Report) -> list[Message]:
    gathered = Gathered(report)
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            report.note("unknown_content", f"message {number} is no object but {str(record)[:80]!r}; left out")
            continue
        key = gathered.key(name(record.get("id")) or f"message-{number}", record)
        if key is None:
            continue
        children = record.get("children")
        listed = [name(child) or "" for child in children] if isinstance(children, list) else None
        gathered.add([_read(key, record, report)], name(record.get("parent")), listed)
    return gathered.messages()


def _read(key: str, record: dict[str, Any], report: Report) -> Message:
    role = record.get("role")
    message = Message(key, None, Side.SENT, [], created_at=moment(record.get("timestamp")))
    message.notes = {field: value for field, value in record.items() if field not in _SAID}
    if record.get("type") == "root":
        message.side = Side.NONE
    elif role == "assistant":
        message.side = Side.RETURNED
        message.model = text(record.get("model"))
        message.items = _answer(key, record, report)
    elif role == "tool" and (call_id := name(record.get("toolCallId"))) is not None:
        message.items = [{"type": "tool_result", "call_id": call_id, "output": text(record.get("content")) or ""}]
    elif role in ("user", "system"):
        message.question = role == "user"
        message.items = [{"type": "message", "role": role, "content": _content(record, report)}]
    else:
        report.note("unknown_content", f"message {key!r} has the role {role!r}; kept raw")
        message.items = [{"type": "raw", "format": SOURCE, "data": record}]
    return message


def _answer(key: str, record: dict[str, Any], report: Report) -> Items:
    items: Items = []
    if thought := text(record.get("reasoningContent")) or text(record.get("thinking")):
        items.append({"type": "reasoning", "text": thought})
    calls = _calls(key, record, report)
    content = _content(record, report)
    if content or not calls:
        items.append({"type": "message", "role": "assistant", "content": content})
    return items + calls


def _calls(key: str, record: dict[str, Any], report: Report) -> Items:
    written = record.get("toolCalls")
    if not written:
        return []
    try:
        calls = json.loads(written) if isinstance(written, str) else written
    except (ValueError, RecursionError):
        report.note("unknown_content", f"the tool calls of message {key!r} are no JSON; kept in its metadata")
        return []
    items: Items = []
    for number, call in enumerate(map(mapping, array(calls))):
        function = mapping(call.get("function"))
        given = function.get("arguments", "")
        items.append(
            {
                "type": "tool_call",
                "call_id": name(call.get("id")) or f"{key}:{number}",
                "name": name(function.get("name")) or "",
                "arguments": given if isinstance(given, str) else jsontext.dumps(given),
            }
        )
    return items


def _content(record: dict[str, Any], report: Report) -> Any:
    said = record.get("content")
    if not isinstance(said, str):
        if said is not None:
            report.note("unknown_content", "the content of a message is no text; kept raw")
            return [{"type": "raw", "format": SOURCE, "data": said}]
        said = ""
    parts = [_extra(each) for each in map(mapping, array(record.get("extra"))) if each]
    return [{"type": "text", "text": said}, *parts] if parts else said


def _extra(extra: dict[str, Any]) -> dict[str, Any]:
    """What was attached: an image or sound with its bytes, a document with its text."""
    kind = (text(extra.get("type")) or "").lower()
    named = {"filename": extra["name"]} if isinstance(extra.get("name"), str) else {}
    url, said, data = (text(extra.get(field)) for field in ("base64Url", "content", "base64Data"))
    if kind.startswith("image") and url:
        return {"type": "image"} | at_url(url)
    if kind.startswith("audio") and data:
        sound_type = (text(extra.get("mimeType")) or "audio/wav").rpartition("/")[2]
        return {"type": "audio", "data": data, "format": sound_type}
    if said is not None:
        return {"type": "file"} | named | {"text": said}
    return {"type": "raw", "format": SOURCE, "data": extra}
