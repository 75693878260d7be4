"""LibreChat's exports: one object a conversation, its messages nested (``children``) or flat (``parentMessageId``).

Where messages are nested, the nesting is the tree. A message without text keeps its place, and so does everything below
it. Several first messages are normal: an edited first question is a second root. An export with ``branches: false``
holds only the path that was shown, so its end is the active leaf; no other export names one.

One answer may hold several calls of a model (``content``: text, thoughts, tool calls with their results); it is cut
into rounds (``pieces``). An answer corrected in place (``isEdited``) is no sibling there, and none here.
"""

from __future__ import annotations

from typing import Any

from graphstore import jsontext
from graphstore.importers.fields import array, mapping, moment, name, text
from graphstore.importers.messages import Message, Side, Tree, grow
from graphstore.importers.pieces import Gathered, Pieces
from graphstore.importers.records import ImportedConversation, Items, Report
from graphstore.importers.told import pointed, tell
from graphstore.rendering.parts import at_url

SOURCE = "librechat"
ROOT = "00000000-0000-0000-0000-000000000000"

_PROVIDERS = {"openAI": "openai", "azureOpenAI": "openai", "anthropic": "anthropic", "google": "gemini"}
_HOLDERS = ("messagesTree", "messages")
_SAID = ("messageId", "parentMessageId", "children", "text", "content")


def recognises(record: Any) -> bool:
    """Whether ``record`` is one exported conversation."""
    if not isinstance(record, dict) or "conversationId" not in record:
        return False
    messages = _messages(record)
    return isinstance(messages, list) and all("messageId" in mapping(each) for each in messages[:1])


def conversation(record: Any, report: Report) -> ImportedConversation:
    """One conversation; ``report.skipped`` says why if there is nothing to read in it."""
    report.source_id = name(record.get("conversationId")) or report.source_id
    report.title = text(record.get("title"))
    result = ImportedConversation(
        SOURCE,
        report.source_id or "",
        report,
        title=report.title,
        metadata={key: value for key, value in record.items() if key not in (*_HOLDERS, "title")},
    )
    gathered = _gathered(array(_messages(record)), report)
    tree = grow(gathered.messages(), report)
    if not tree.messages:
        report.skipped = "it has no messages"
        return result
    moments = [message.created_at for message in tree.messages if message.created_at is not None]
    result.created_at, result.updated_at = min(moments, default=None), max(moments, default=None)
    options = mapping(record.get("options"))
    pointer = _only_leaf(tree) if record.get("branches") is False else None
    return tell(
        result,
        tree,
        pointed(tree, None, "", report) if pointer is None else pointer,
        provider=_PROVIDERS.get(text(record.get("endpoint")) or ""),
        model=text(options.get("model")),
        system=text(options.get("promptPrefix")) or None,
    )


def _messages(record: dict[str, Any]) -> Any:
    return next((record[holder] for holder in _HOLDERS if isinstance(record.get(holder), list)), None)


def _only_leaf(tree: Tree) -> int | None:
    leaves = [at for at, children in enumerate(tree.children) if not children]
    return leaves[0] if len(leaves) == 1 else None


def _gathered(records: list[Any], report: Report) -> Gathered:
    placed = _placed(records, report)
    known = {key for key, _, _ in placed}
    linked = any(parent is not None for _, parent, _ in placed)
    gathered = Gathered(report)
    before: str | None = None
    for key, parent, record in placed:
        free = gathered.key(key, record)
        if free is None:
            continue
        if not linked and name(record.get("parentMessageId")) != ROOT:
            parent = before
        if parent is not None and parent not in known and parent.rstrip("_") in known:
            report.note(
                "orphan", f"message {key!r} hangs under the placeholder {parent!r}; the message it held is used"
            )
            parent = parent.rstrip("_")
        gathered.add(_read(free, record, report), parent)
        before = free
    return gathered


def _placed(records: list[Any], report: Report) -> list[tuple[str, str | None, dict[str, Any]]]:
    """Every message, nested or not, with its key and its parent's, without what is nested in it."""
    placed: list[tuple[str, str | None, dict[str, Any]]] = []
    stack: list[tuple[Any, str | None]] = [(record, None) for record in reversed(records)]
    while stack:
        record, around = stack.pop()
        if not isinstance(record, dict):
            report.note("unknown_content", f"a message is no object but {str(record)[:80]!r}")
            continue
        key = name(record.get("messageId")) or f"message-{len(placed)}"
        parent = name(record.get("parentMessageId"))
        parent = None if parent == ROOT else parent
        if around is not None and parent != around:
            if parent is not None:
                report.note(
                    "wrong_parents", f"message {key!r} names {parent!r} but is nested in {around!r}, which counts"
                )
            parent = around
        own = {field: value for field, value in record.items() if field != "children"}
        placed.append((key, parent, own))
        stack.extend((child, key) for child in reversed(array(record.get("children"))))
    return placed


def _read(key: str, record: dict[str, Any], report: Report) -> list[Message]:
    pieces = Pieces(key)
    asked = record.get("isCreatedByUser")
    if not isinstance(asked, bool):
        asked = (text(record.get("sender")) or "").lower() == "user"
    parts = array(record.get("content"))
    flat = text(record.get("text")) or ""
    notes = {field: value for field, value in record.items() if field not in _SAID}
    if asked:
        content = _content([_part(part, report) for part in parts] if parts and not flat else [_text(flat)], record)
        pieces.add(Side.SENT, [{"type": "message", "role": "user", "content": content}]).question = True
    elif record.get("error") is True:
        pieces.add(Side.RETURNED, []).failure = flat or _words(parts) or "the source marks it as failed"
    else:
        if flat and parts and flat != _words(parts):
            notes["text"] = flat
        _answer(pieces, parts or [{"type": "text", "text": flat}], report)
        if files := _files(record):
            pieces.add(Side.RETURNED, [_spoken(files)])
    for piece in pieces.messages:
        piece.created_at = moment(record.get("createdAt"))
        piece.model = None if asked else text(record.get("model"))
    last = pieces.messages[-1]
    if last.side is Side.RETURNED:
        last.finish_reason = "incomplete" if record.get("unfinished") is True else text(record.get("finish_reason"))
    pieces.messages[0].notes = notes
    return pieces.messages


def _answer(pieces: Pieces, parts: list[Any], report: Report) -> None:
    for number, part in enumerate(parts):
        call = mapping(mapping(part).get("tool_call"))
        if mapping(part).get("type") != "tool_call" or not call:
            read = _part(part, report)
            spoken = read["text"] if read.keys() == {"type", "text"} else [read]
            own = read["type"] in ("reasoning", "raw")
            pieces.add(Side.RETURNED, [read if own else _spoken(spoken)])
            continue
        function = mapping(call.get("function"))
        call_id = name(call.get("id")) or f"{pieces.key}:{number}"
        given = call.get("args", function.get("arguments", ""))
        arguments = given if isinstance(given, str) else jsontext.dumps(given)
        tool = name(call.get("name")) or name(function.get("name")) or ""
        pieces.add(Side.RETURNED, [{"type": "tool_call", "call_id": call_id, "name": tool, "arguments": arguments}])
        output = call.get("output", function.get("output"))
        if output is not None:
            output = output if isinstance(output, str) else jsontext.dumps(output)
            pieces.add(Side.SENT, [{"type": "tool_result", "call_id": call_id, "output": output}])


def _part(part: Any, report: Report) -> dict[str, Any]:
    kind = mapping(part).get("type")
    said = mapping(part).get(kind) if isinstance(kind, str) else None
    said = mapping(said).get("value", said)  # assistants' texts stand one level deeper
    if kind in ("text", "error") and isinstance(said, str):
        return _text(said)
    if kind == "think" and isinstance(said, str):
        return {"type": "reasoning", "text": said}
    if kind == "image_url" and isinstance(url := said if isinstance(said, str) else mapping(said).get("url"), str):
        return {"type": "image"} | at_url(url)
    if kind == "image_file":
        return {"type": "image", "extra": {SOURCE: said}}
    report.note("unknown_content", f"a part of type {kind!r} is not understood; kept raw")
    return {"type": "raw", "format": SOURCE, "data": part}


def _words(parts: list[Any]) -> str:
    """What the text parts of a message say, as the flat copy of it has it."""
    said = (mapping(part).get("text", mapping(part).get("error")) for part in parts)
    return "".join(text(mapping(each).get("value", each)) or "" for each in said)


def _content(parts: Items, record: dict[str, Any]) -> Any:
    parts = parts + _files(record)
    return parts[0]["text"] if len(parts) == 1 and parts[0].keys() == {"type", "text"} else parts


def _files(record: dict[str, Any]) -> Items:
    """What was attached: names, with the text that was read from a file; the bytes are not exported."""
    parts: Items = []
    for file in map(mapping, array(record.get("files"))):
        named, said = text(file.get("filename")), text(file.get("text"))
        image = (text(file.get("type")) or "").startswith("image")
        part: dict[str, Any] = {"type": "image" if image else "file"} | ({"filename": named} if named else {})
        rest = {field: value for field, value in file.items() if field not in ("filename", "text")}
        parts.append(part | ({"text": said} if said else {}) | ({"extra": {SOURCE: rest}} if rest else {}))
    return parts


def _text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def _spoken(content: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": content}
