"""What one line of a Claude Code log is and says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphstore.importers.fields import counted, mapping, moment, name, text
from graphstore.importers.lines import READING_ERRORS
from graphstore.importers.messages import Message, Side
from graphstore.importers.records import Items, Report
from graphstore.rendering import anthropic

SOURCE = "claude_code"

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_LINE_TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})
_OTHERS = frozenset({"file-history-snapshot", "queue-operation", "permission-mode", "last-prompt", "ai-title", "mode"})
_SAID = ("message", "uuid", "parentUuid", "logicalParentUuid", "type", "timestamp", "sessionId")
_EVERYONE = ["*"]


@dataclass(slots=True)
class Line:
    """One line, the file it is in, and where."""

    record: dict[str, Any]
    file: str
    where: str

    @property
    def key(self) -> str | None:
        """Its uuid; of a copied line, the original's."""
        return name(mapping(self.record.get("forkedFrom")).get("messageUuid")) or name(self.record.get("uuid"))

    @property
    def parent(self) -> str | None:
        """The uuid above it."""
        return name(self.record.get("parentUuid"))

    @property
    def logical_parent(self) -> str | None:
        """The uuid above it, also across a compaction."""
        return self.parent or name(self.record.get("logicalParentUuid"))

    @property
    def is_message(self) -> bool:
        """Whether it says something that a model was sent or returned."""
        kind = self.record.get("type")
        message = self.record.get("message")
        if kind == "summary":
            return isinstance(message, dict) and name(self.record.get("uuid")) is not None
        return kind in ("user", "assistant") and message is not None

    @property
    def answer_id(self) -> str | None:
        """The id of the API's answer that it is a part of."""
        if self.record.get("type") != "assistant" or self.record.get("isApiErrorMessage") is True:
            return None
        return name(mapping(self.record.get("message")).get("id"))


def recognises(record: Any) -> bool:
    """Whether ``record`` is a line of such a log."""
    if not isinstance(record, dict):
        return False
    kind = record.get("type")
    if kind in _LINE_TYPES:
        return "sessionId" in record and ("uuid" in record or "parentUuid" in record)
    if kind == "summary":
        return "leafUuid" in record or "sessionId" in record
    return kind in _OTHERS and ("sessionId" in record or "messageId" in record)


def title_of(record: dict[str, Any]) -> str | None:
    """The title that a line gives its session, if that is what it is for."""
    if record.get("type") == "summary" and "leafUuid" in record:
        return text(record.get("summary"))
    if record.get("type") in ("ai-title", "custom-title"):
        return next((said for field, value in record.items() if "itle" in field and (said := text(value))), None)
    return None


def is_worth_keeping(record: dict[str, Any]) -> bool:
    """Whether a line that is no message says more than that something is going on."""
    return record.get("type") in ("attachment", "system")


def read(key: str, line: Line, report: Report) -> Message:
    """The message of a line."""
    record = line.record
    said = record.get("message")
    body = mapping(said)
    message = Message(key, None, Side.SENT, [], created_at=moment(record.get("timestamp")))
    message.notes = {field: value for field, value in record.items() if field not in _SAID}
    if record.get("type") == "assistant":
        message.side = Side.RETURNED
        message.items = _items("assistant", said, report)
        message.whole = True
        model = text(body.get("model"))
        message.model = None if model == "<synthetic>" else model
        finish = text(body.get("stop_reason"))
        message.finish_reason = _FINISH.get(finish, finish) if finish else None
        message.usage = _usage(body.get("usage"))
        if record.get("isApiErrorMessage") is True:
            message.failure = _words(message.items) or "the API returned an error"
            message.items = []
        return message
    message.items = _items("user", said, report)
    if record.get("isCompactSummary") is True or record.get("type") == "summary":
        message.side = Side.RETURNED
        message.compacts = _EVERYONE
        return message
    answers = any(item["type"] == "tool_result" for item in message.items)
    message.question = not answers and record.get("isMeta") is not True
    return message


def _items(role: str, said: Any, report: Report) -> Items:
    content = mapping(said).get("content", said if isinstance(said, str) else None)
    try:
        items = anthropic.parse([{"role": role, "content": content}]).items
    except READING_ERRORS:
        items = [{"type": "raw", "format": SOURCE, "data": said}]
        report.note("unknown_content", f"a line of type {role!r} is not understood; kept raw")
    return items or [{"type": "message", "role": role, "content": ""}]


def _words(items: Items) -> str:
    said: list[str] = []
    for item in items:
        content = item.get("content")
        parts = [content] if isinstance(content, str) else [mapping(part).get("text") for part in content or ()]
        said += [part for part in parts if isinstance(part, str)]
    return "\n".join(said)


def _usage(given: Any) -> dict[str, Any] | None:
    usage = mapping(given)
    return counted(
        {
            "input_tokens": usage.get("input_tokens"),
            "output_tokens": usage.get("output_tokens"),
            "cached_input_tokens": usage.get("cache_read_input_tokens"),
            "cache_write_tokens": usage.get("cache_creation_input_tokens"),
        }
    )
