"""Claude.ai's data export and the web client's own conversation objects.

Newer exports link messages by ``parent_message_uuid``; where no message of a conversation has one, the array is
the thread. One assistant message may hold several calls of the model: its blocks run text, tool use, tool
result, text, …, so it is cut before and after each run of results. The first piece goes by the message's uuid,
the next by ``<uuid>:1`` and so on, so that a message that grew keeps the keys it had.

``content`` is the truth and ``text`` its flattened copy, used where content says nothing. Whatever the items
don't say is in the call's ``metadata["messages"]`` by message uuid.
"""

from __future__ import annotations

from typing import Any

from graphstore import jsontext
from graphstore.importers.fields import array, mapping, moment, name, text
from graphstore.importers.messages import Message, Side, grow
from graphstore.importers.pieces import Gathered, Pieces
from graphstore.importers.records import ImportedConversation, Items, Report
from graphstore.importers.told import pointed, tell

SOURCE = "claude_ai"
ROOT = "00000000-0000-4000-8000-000000000000"

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "user_canceled": "cancelled",
    "refusal": "content_filter",
}


def recognises(record: Any) -> bool:
    """Whether ``record`` is one conversation of this export."""
    return isinstance(record, dict) and isinstance(record.get("chat_messages"), list)


def conversation(record: Any, report: Report) -> ImportedConversation:
    """One conversation; ``report.skipped`` says why if there is nothing to read in it."""
    report.source_id = name(record.get("uuid")) or name(record.get("conversation_id")) or report.source_id
    report.title = text(record.get("name")) or text(record.get("title"))
    result = ImportedConversation(
        SOURCE,
        report.source_id or "",
        report,
        title=report.title,
        created_at=moment(record.get("created_at")),
        updated_at=moment(record.get("updated_at")),
        metadata={key: value for key, value in record.items() if key not in ("chat_messages", "name")},
    )
    if not isinstance(record.get("chat_messages"), list):
        report.skipped = "it has no chat_messages"
        return result
    gathered = _gathered(record["chat_messages"], report)
    tree = grow(gathered.messages(), report)
    leaf = name(record.get("current_leaf_message_uuid"))
    leaf = leaf if leaf is None else gathered.ends.get(leaf, leaf)
    pointer = pointed(tree, leaf, "current_leaf_message_uuid", report)
    return tell(result, tree, pointer, provider="anthropic", model=text(record.get("model")))


def _gathered(records: list[Any], report: Report) -> Gathered:
    linear = not any("parent_message_uuid" in mapping(record) for record in records)
    gathered = Gathered(report)
    previous: str | None = None
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            report.note("unknown_content", f"message {number} is no object; kept raw")
        key = gathered.key(name(mapping(record).get("uuid")) or f"message-{number}", record)
        if key is None:
            continue
        parent = name(mapping(record).get("parent_message_uuid"))
        gathered.add(_Reader(record, key, report).pieces, previous if linear else None if parent == ROOT else parent)
        previous = key
    return gathered


class _Reader:
    """One message of the source in pieces: runs of what was sent and what was returned."""

    def __init__(self, record: Any, key: str, report: Report) -> None:
        self._key = key
        self._report = report
        self._open: list[tuple[str, str]] = []  # calls (id, name) whose results haven't come
        self._pieces = Pieces(key)
        self.pieces: list[Message] = self._pieces.messages
        record = mapping(record) or {"message": record}
        sender = record.get("sender")
        notes = {field: value for field, value in record.items() if field not in ("content", "text")}
        blocks = array(record.get("content"))
        flat = text(record.get("text"))
        if flat is not None and not any(_says(block) for block in blocks):
            if blocks:
                notes["empty_content"] = blocks
            blocks = [{"type": "text", "text": flat}]
        elif flat and flat != "\n\n".join(block["text"] for block in blocks if _says_text(block)):
            notes["text"] = flat
        if sender == "assistant":
            self._answer(record, blocks)
        elif sender == "human":
            self._question(record, blocks)
        else:
            report.note("unknown_content", f"message {key!r} has the sender {sender!r}; kept raw")
            self._pieces.add(Side.SENT, [_raw(record)])
            notes = {}
        rest = [_rest(block) for block in blocks]
        if any(rest) and sender in ("assistant", "human"):
            notes["content"] = rest
        self.pieces[0].notes = notes
        self._times(record)

    def _question(self, record: dict[str, Any], blocks: list[Any]) -> None:
        parts = []
        for block in blocks:
            if mapping(block).get("type") == "tool_result":
                self._pieces.add(Side.SENT, [self._result(block)])
            else:
                parts.append(self._part(block))
        parts += _files(record)
        plain = len(parts) == 1 and parts[0].keys() == {"type", "text"}
        content = parts[0]["text"] if plain else parts or ""
        self._pieces.add(Side.SENT, [{"type": "message", "role": "user", "content": content}])
        self.pieces[0].question = True

    def _answer(self, record: dict[str, Any], blocks: list[Any]) -> None:
        for number, block in enumerate(blocks):
            if mapping(block).get("type") == "tool_result":
                self._pieces.add(Side.SENT, [self._result(block)])
            else:
                self._pieces.add(Side.RETURNED, [self._returned(block, number)])
        files = _files(record)
        if files or not self.pieces:
            self._pieces.add(Side.RETURNED, [{"type": "message", "role": "assistant", "content": files or ""}])
        reason = text(record.get("stop_reason"))
        if self.pieces[-1].side is Side.RETURNED:
            self.pieces[-1].finish_reason = _FINISH.get(reason, reason) if reason else None
        for piece in self.pieces:
            piece.model = text(record.get("model"))

    def _returned(self, block: Any, number: int) -> dict[str, Any]:
        kind = mapping(block).get("type")
        if kind == "thinking" and isinstance(block.get("thinking"), str):
            item: dict[str, Any] = {"type": "reasoning", "text": block["thinking"]}
            summaries = [text(mapping(each).get("summary")) for each in array(block.get("summaries"))]
            if known := [summary for summary in summaries if summary is not None]:
                item["summary"] = known
            if isinstance(block.get("signature"), str):
                item["signature"] = block["signature"]
            return item
        if kind == "tool_use":
            call_id = name(block.get("id")) or f"{self._key}:{number}"
            tool = name(block.get("name")) or ""
            self._open.append((call_id, tool))
            arguments = jsontext.dumps(block.get("input", {}))
            return {"type": "tool_call", "call_id": call_id, "name": tool, "arguments": arguments}
        part = self._part(block)
        if part["type"] == "raw":
            return part
        return {"type": "message", "role": "assistant", "content": part["text"]}

    def _result(self, block: dict[str, Any]) -> dict[str, Any]:
        content = block.get("content")
        output = content if isinstance(content, str) else [self._part(part) for part in array(content)]
        if isinstance(output, list) and len(output) == 1 and output[0].keys() == {"type", "text"}:
            output = output[0]["text"]
        item: dict[str, Any] = {"type": "tool_result", "call_id": self._answered(block), "output": output or ""}
        if block.get("is_error") is True:
            item["is_error"] = True
        return item

    def _answered(self, block: dict[str, Any]) -> str:
        """The call a result belongs to: by id, else the open one of its name, else the oldest open."""
        call_id, tool = name(block.get("tool_use_id")), name(block.get("name"))
        if call_id is not None:
            self._open = [call for call in self._open if call[0] != call_id]
            return call_id
        for call in [call for call in self._open if call[1] == tool] or self._open:
            self._open.remove(call)
            return call[0]
        return f"{self._key}:unknown"

    def _part(self, block: Any) -> dict[str, Any]:
        if isinstance(block, str):
            return {"type": "text", "text": block}
        if mapping(block).get("type") in ("text", "voice_note") and isinstance(block.get("text"), str):
            return {"type": "text", "text": block["text"]}
        self._report.note(
            "unknown_content", f"message {self._key!r} has a block of type {mapping(block).get('type')!r}; kept raw"
        )
        return _raw(block)

    def _times(self, record: dict[str, Any]) -> None:
        created, updated = moment(record.get("created_at")), moment(record.get("updated_at"))
        for piece in self.pieces:
            piece.created_at, piece.finished_at = created, updated


def _says(block: Any) -> bool:
    """Whether a block holds anything at all."""
    return bool(block) and (not _is_text(block) or bool(block["text"]))


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _says_text(block: Any) -> bool:
    return _is_text(block) and bool(block["text"])


_SAID = {
    "text": {"type", "text"},
    "voice_note": {"text"},
    "thinking": {"type", "thinking", "signature"},
    "tool_use": {"type", "id", "name", "input"},
    "tool_result": {"type", "tool_use_id", "is_error", "content"},
}


def _rest(block: Any) -> dict[str, Any]:
    """What of a block its item doesn't say (a raw one is whole in its item)."""
    said = _SAID.get(mapping(block).get("type") or "")
    return {field: value for field, value in block.items() if field not in said} if said else {}


def _files(record: dict[str, Any]) -> Items:
    """File parts: attachments with the text that was extracted, and files that no attachment names."""
    parts: Items = []
    names = set()
    for attachment in array(record.get("attachments")):
        attachment = mapping(attachment)
        part = {"type": "file"} | _named(attachment)
        if isinstance(attachment.get("extracted_content"), str):
            part["text"] = attachment["extracted_content"]
        parts.append(part)
        names.add(part.get("filename"))
    for file in array(record.get("files")):
        part = {"type": "file"} | _named(mapping(file))
        if part.get("filename") not in names:
            parts.append(part)
    return parts


def _named(file: dict[str, Any]) -> dict[str, Any]:
    filename = text(file.get("file_name"))
    rest = {field: value for field, value in file.items() if field not in ("extracted_content", "file_name")}
    return ({"filename": filename} if filename else {}) | ({"extra": {SOURCE: rest}} if rest else {})


def _raw(value: Any) -> dict[str, Any]:
    return {"type": "raw", "format": SOURCE, "data": value}
