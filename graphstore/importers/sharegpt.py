"""ShareGPT rows: ``{"conversations": [{"from": …, "value": …}]}``, and the many spellings that data sets give it.

Turns are a line without ids; a turn's key is a hash of everything up to it (``chains``), so a longer row keeps the keys
of the shorter one. A row may begin with the model (a greeting), say nothing in a turn, or hold what is no turn at all:
each turn is kept, and what isn't understood is kept raw and counted.

A ``function_call`` is a JSON object with a name and arguments, and the ``observation`` behind it answers it; nothing
there has an id, so the calls are numbered. ``chosen`` and ``rejected`` turns are two answers to the same question.
"""

from __future__ import annotations

import json
from typing import Any

from graphstore import jsontext
from graphstore.errors import InvalidInput
from graphstore.importers.chains import Beginnings, beginning, chained
from graphstore.importers.fields import array, mapping, moment, name, text
from graphstore.importers.messages import Message, Side, grow
from graphstore.importers.records import ImportedConversation, Items, Report
from graphstore.importers.told import tell
from graphstore.rendering import tools as tool_shapes

SOURCE = "sharegpt"

_ROLES = {
    "human": "user",
    "user": "user",
    "prompter": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "system": "system",
    "developer": "developer",
    "function_call": "call",
    "tool_call": "call",
    "observation": "result",
    "function_response": "result",
    "tool_response": "result",
    "tool": "result",
    "ipython": "result",
}
_OUTCOMES = ("chosen", "rejected")
_HOLDERS = ("conversations", "conversation")
_READ = (*_HOLDERS, "system", "tools", *_OUTCOMES)


def recognises(row: Any) -> bool:
    """Whether the first turn of ``row`` that is an object says who speaks and what."""
    if not isinstance(row, dict):
        return False
    first = next((turn for turn in _turns(row) if isinstance(turn, dict)), {})
    return ("from" in first or "role" in first) and ("value" in first or "content" in first)


class Rows:
    """Reads the rows of one file; remembers how often each beginning has come."""

    def __init__(self) -> None:
        self._beginnings = Beginnings()

    def conversation(self, row: Any, report: Report) -> ImportedConversation:
        """One row as a conversation; ``report.skipped`` says why if there is nothing to read in it."""
        turns = _turns(row)
        system = text(row.get("system")) or None
        roles = [_role(turn) for turn in turns]
        # ids are row numbers in many data sets, so an id alone would make one conversation of two sets' first rows
        report.source_id = self._beginnings.source_id([row.get("id"), system, beginning(turns, roles)])
        report.title = text(row.get("title"))
        result = ImportedConversation(
            SOURCE,
            report.source_id,
            report,
            title=report.title,
            created_at=moment(row.get("created_at")),
            metadata={key: value for key, value in row.items() if key not in _READ},
        )
        if not turns:
            report.skipped = "it has no turns"
            return result
        messages = _chain(turns, None, report)
        ends = [messages[-1].key]
        for outcome in _OUTCOMES:
            given = row.get(outcome)
            said = [given] if isinstance(given, dict) else array(given)
            if said:
                messages += (branch := _chain(said, ends[0], report))
                ends.append(branch[-1].key)
        tree = grow(messages, report)
        pointer = tree.position[ends[min(1, len(ends) - 1)]]
        return tell(result, tree, pointer, model=text(row.get("model")), system=system, tools=_tools(row, report))


def _turns(row: dict[str, Any]) -> list[Any]:
    return next((row[holder] for holder in _HOLDERS if isinstance(row.get(holder), list)), [])


def _role(turn: Any) -> str | None:
    said = text(mapping(turn).get("from", mapping(turn).get("role")))
    return None if said is None else _ROLES.get(said.strip().lower())


def _chain(turns: list[Any], above: str | None, report: Report) -> list[Message]:
    messages = []
    open_calls: list[str] = []
    for key, parent, turn in chained(turns, above):
        role = _role(turn)
        items = _items(key, role, turn, open_calls)
        if items[0]["type"] == "raw":
            report.note("unknown_content", f"a turn {str(turn)[:80]!r} is not understood; kept raw")
        notes = {field: value for field, value in mapping(turn).items() if field in ("weight", "loss", "train")}
        side = Side.RETURNED if role in ("assistant", "call") else Side.SENT
        messages.append(Message(key, parent, side, items, question=role == "user", notes=notes))
    return messages


def _items(key: str, role: str | None, turn: Any, open_calls: list[str]) -> Items:
    said = mapping(turn).get("value", mapping(turn).get("content"))
    if role == "call" and isinstance(said, str) and (calls := _calls(key, said)):
        open_calls += [call["call_id"] for call in calls]
        return calls
    if role == "result" and isinstance(said, str):
        call_id = open_calls.pop(0) if open_calls else f"{key}:unknown"
        return [{"type": "tool_result", "call_id": call_id, "output": said}]
    if role is None or not isinstance(said, str):
        return [{"type": "raw", "format": SOURCE, "data": turn}]
    return [{"type": "message", "role": "assistant" if role == "call" else role, "content": said}]


def _calls(key: str, said: str) -> Items:
    """The calls that a turn writes as JSON, one or a list; none if it is no such JSON."""
    try:
        written: Any = json.loads(said)
    except (ValueError, RecursionError):
        return []
    calls = written if isinstance(written, list) else [written]
    read: Items = []
    for number, call in enumerate(map(mapping, calls)):
        tool = name(call.get("name"))
        if tool is None:
            return []
        given = call.get("arguments", call.get("parameters", {}))
        arguments = given if isinstance(given, str) else jsontext.dumps(given)
        read.append({"type": "tool_call", "call_id": f"{key}:{number}", "name": tool, "arguments": arguments})
    return read


def _tools(row: dict[str, Any], report: Report) -> Items | None:
    """The tools of a row: a list, or the JSON text of one."""
    given = row.get("tools")
    if isinstance(given, str) and given.strip():
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            report.note("unknown_content", "the tools are no JSON; left out")
            return None
    read = []
    for tool in array(given):
        if not isinstance(tool, dict):
            report.note("unknown_content", f"a tool {str(tool)[:80]!r} is no object; left out")
            continue
        try:
            shaped = tool if "function" in tool else {"type": "function", "function": tool}
            read.append(tool_shapes.from_chat(shaped))
        except (InvalidInput, AttributeError, LookupError, TypeError):  # of some other shape: kept as it is
            read.append(tool)
    return read or None
