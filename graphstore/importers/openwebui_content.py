"""What one message of Open WebUI says, as runs of items."""

from __future__ import annotations

from typing import Any

from graphstore.errors import InvalidInput
from graphstore.importers import details
from graphstore.importers.fields import array, mapping, text
from graphstore.importers.messages import Side
from graphstore.importers.records import Items, Report
from graphstore.rendering import openai_responses
from graphstore.rendering.parts import at_url, read_part

SOURCE = "openwebui"

Runs = list[tuple[Side, Items]]


def question(message: dict[str, Any], role: str, report: Report) -> tuple[Items, tuple[str, ...]]:
    """What a user (or a system prompt) says, files included, and the fields that this says in full."""
    parts = _parts(message.get("content"), report)
    files = [_file(each) for each in array(message.get("files"))]
    plain = not files and len(parts) == 1 and parts[0].keys() == {"type", "text"}
    content = parts[0]["text"] if plain else parts + files or ""
    return [{"type": "message", "role": role, "content": content}], ("content",)


def answer(key: str, message: dict[str, Any], report: Report) -> tuple[Runs, tuple[str, ...]]:
    """What an assistant's message holds: calls and results from ``output``, else from blocks in its text."""
    content = message.get("content")
    output = [item for item in array(message.get("output")) if isinstance(item, dict)]
    if output and len(output) == len(array(message.get("output"))):
        # the text repeats what the items say, but may have been edited since: it is kept beside them
        return [_output(item, report) for item in output], ("output",)
    files = [_file(each) for each in array(message.get("files"))]
    runs = details.items_of(key, content) if isinstance(content, str) else None
    if runs is not None:
        return runs + ([(Side.RETURNED, [_spoken(files)])] if files else []), ()
    parts = _parts(content, report)
    plain = not files and len(parts) == 1 and parts[0].keys() == {"type", "text"}
    return [(Side.RETURNED, [_spoken(parts[0]["text"] if plain else parts + files or "")])], ("content",)


def error_of(message: dict[str, Any]) -> str | None:
    """Why there is no answer, where a message stands for that."""
    error = message.get("error")
    if error in (None, False, ""):
        return None
    return text(error) or text(mapping(error).get("content")) or text(mapping(error).get("message")) or str(error)[:500]


def _spoken(content: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": content}


def _output(item: dict[str, Any], report: Report) -> tuple[Side, Items]:
    try:
        [read] = openai_responses.parse([item]).items
    except (InvalidInput, AttributeError, LookupError, TypeError, ValueError):  # fields of other types
        read = {"type": "raw", "format": SOURCE, "data": item}
    if read["type"] == "raw":
        report.note("unknown_content", f"an output of type {item.get('type')!r} is not understood; kept raw")
    return (Side.SENT if read["type"] == "tool_result" else Side.RETURNED), [read]


def _parts(content: Any, report: Report) -> Items:
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        parts = [read_part(part, "openai-chat") for part in content]
    else:
        parts = [{"type": "raw", "format": SOURCE, "data": content}]
    for part in parts:
        if part["type"] == "raw":
            report.note("unknown_content", "a part of a message is not understood; kept raw")
    return parts


def _file(file: Any) -> dict[str, Any]:
    """A file of a message: an image with its bytes, or the name of what was attached (a document, a collection)."""
    file = mapping(file) or {"file": file}
    url, kind = text(file.get("url")), text(file.get("type")) or ""
    named = text(file.get("name")) or text(mapping(file.get("file")).get("filename"))
    if kind.startswith("image") and url and url.startswith("data:"):
        rest = {field: value for field, value in file.items() if field not in ("type", "url")}
        return {"type": "image"} | at_url(url) | ({"extra": {SOURCE: rest}} if rest else {})
    # an address within that installation, which nobody else can fetch: kept, but not given as one
    return {"type": "file"} | ({"filename": named} if named else {}) | {"extra": {SOURCE: file}}
