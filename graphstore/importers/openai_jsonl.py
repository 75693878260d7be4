"""OpenAI's chat rows: ``{"messages": […]}`` a line (or in one array), and preference rows with two outcomes.

Messages have no ids. A message's key is a hash of everything from the row's beginning to it, so a longer row
keeps the keys of the shorter one. A row without ``id`` or ``conversation_id`` goes by a hash of its beginning up
to the first question (or the first answer, if that comes earlier) and its number among the rows with the same
beginning: importing the file again, or with rows continued or appended, finds the same conversations.

The roles and content are read as any Chat Completions message is (``graphstore.rendering.openai_chat``), but a
system message stays an item, so that a path says exactly what the row says.
"""

from __future__ import annotations

from typing import Any

from graphstore.errors import InvalidInput
from graphstore.importers.chains import Beginnings, beginning, chained
from graphstore.importers.fields import array, mapping, moment, name, text
from graphstore.importers.messages import Message, Side, grow
from graphstore.importers.records import ImportedConversation, Items, Report
from graphstore.importers.told import tell
from graphstore.rendering import openai_chat
from graphstore.rendering import tools as tool_shapes

SOURCE = "openai_jsonl"

_OUTCOMES = ("preferred_output", "non_preferred_output")
_LINKS = frozenset(
    {"parentId", "childrenIds", "parent_id", "children", "parentMessageId", "parent_message_id", "parentUuid"}
)
_READ = ("messages", "input", "tools", "functions", *_OUTCOMES)


def recognises(row: Any) -> bool:
    """Whether ``row`` is a chat row or a preference row."""
    if not isinstance(row, dict) or links_messages(row):
        return False
    messages = _messages(row)
    return bool(messages) and all(isinstance(each, dict) and "role" in each for each in messages)


def links_messages(row: dict[str, Any]) -> bool:
    """Whether the messages of ``row`` name parents or children: another program's tree, not told by their order."""
    return any(not _LINKS.isdisjoint(each) for each in _messages(row) if isinstance(each, dict))


def _messages(row: dict[str, Any]) -> list[Any]:
    if isinstance(row.get("messages"), list):
        return array(row["messages"])
    return array(mapping(row.get("input")).get("messages")) if _OUTCOMES[0] in row else []


class Rows:
    """Reads the rows of one file; remembers how often each beginning has come."""

    def __init__(self) -> None:
        self._beginnings = Beginnings()

    def conversation(self, row: Any, report: Report) -> ImportedConversation:
        """One row as a conversation; ``report.skipped`` says why if there is nothing to read in it."""
        said = _messages(row)
        report.source_id = self._source_id(row, said)
        result = ImportedConversation(
            SOURCE,
            report.source_id,
            report,
            created_at=moment(row.get("created_at")),
            metadata={key: value for key, value in row.items() if key not in _READ},
        )
        if not said:
            report.skipped = "it has no messages"
            return result
        if links_messages(row):
            report.skipped = "its messages name parents or children, and OpenAI's don't: it is another program's tree"
            return result
        messages = _chain(said, None, report)
        stem = messages[-1].key
        ends = [stem]
        for outcome in _OUTCOMES:
            if branch := array(row.get(outcome)):
                messages += (chain := _chain(branch, stem, report))
                ends.append(chain[-1].key)
        if isinstance(row.get("input"), dict):
            result.metadata |= {key: value for key, value in row["input"].items() if key not in _READ}
        tree = grow(messages, report)
        pointer = tree.position[ends[min(1, len(ends) - 1)]]
        return tell(result, tree, pointer, model=text(row.get("model")), tools=_tools(row))

    def _source_id(self, row: dict[str, Any], said: list[Any]) -> str:
        given = name(row.get("id")) or name(row.get("conversation_id"))
        if given is not None:
            return given
        return self._beginnings.source_id(beginning(said, [mapping(each).get("role") for each in said]))


def _chain(said: list[Any], above: str | None, report: Report) -> list[Message]:
    return [_message(key, parent, record, report) for key, parent, record in chained(said, above)]


def _message(key: str, parent: str | None, record: Any, report: Report) -> Message:
    role = mapping(record).get("role")
    items = _items(record)
    for item in items:
        if item.get("type") == "raw":
            report.note("unknown_content", f"a message with the role {role!r} is not understood; kept raw")
    weight = mapping(record).get("weight")
    return Message(
        key,
        parent,
        Side.RETURNED if role == "assistant" else Side.SENT,
        items,
        question=role == "user",
        notes={} if weight is None else {"weight": weight},
    )


def _items(record: Any) -> Items:
    try:
        parsed = openai_chat.parse([record])
    except (InvalidInput, AttributeError, LookupError, TypeError):  # fields of other types than the API's
        return [{"type": "raw", "format": "openai-chat", "data": record}]
    if parsed.system is not None:
        return [{"type": "message", "role": "system", "content": parsed.system}]
    return parsed.items


def _tools(row: dict[str, Any]) -> Items | None:
    given = array(row.get("tools")) or array(mapping(row.get("input")).get("tools"))
    tools = [tool for tool in given if isinstance(tool, dict)]
    functions = [{"type": "function", "function": each} for each in array(row.get("functions"))]
    read = []
    for tool in tools + functions:
        try:
            read.append(tool_shapes.from_chat(tool))
        except (InvalidInput, AttributeError, LookupError, TypeError):
            read.append(tool)
    return read or None
