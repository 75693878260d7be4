"""ChatGPT's data export: a ``mapping`` of nodes with parent, children and one message each.

Links use node ids; a message's own id may differ and is kept. One visible answer is a chain of nodes (thoughts,
tool call, tool result, recap, text). A tool call is an assistant's message to a recipient other than ``all``; it
has no call id, so its node id serves as one, and the tool's message below answers it. Several messages of a tool
about one call become one result of several parts, since a call has one result.

Text is given as it stands: citation marks and offsets refer to it. Whatever of a message the items don't say
(status, weight, metadata, other fields of its content) is in the call's ``metadata["messages"]`` by node id.
"""

from __future__ import annotations

from typing import Any

from graphstore.importers.chatgpt_content import CONTEXTS, Part, items_of, raw_item, text_part
from graphstore.importers.fields import mapping, moment, name, text
from graphstore.importers.messages import Message, Side, Tree, grow
from graphstore.importers.records import ImportedConversation, Items, Report
from graphstore.importers.told import pointed, tell

SOURCE = "chatgpt"

_OPEN_CALLS = 64  # calls without a result that are still looked at when a result comes

_FINISH = {"stop": "stop", "interrupted": "cancelled", "max_tokens": "length", "content_filter": "content_filter"}
_UNFINISHED = {"in_progress": "incomplete", "finished_partial_completion": "length"}


def recognises(record: Any) -> bool:
    """Whether ``record`` is one conversation of this export."""
    return isinstance(record, dict) and isinstance(record.get("mapping"), dict)


def conversation(record: Any, report: Report) -> ImportedConversation:
    """One conversation; ``report.skipped`` says why if there is nothing to read in it."""
    report.source_id = name(record.get("conversation_id")) or name(record.get("id")) or report.source_id
    report.title = text(record.get("title"))
    result = ImportedConversation(
        SOURCE,
        report.source_id or "",
        report,
        title=report.title,
        created_at=moment(record.get("create_time")),
        updated_at=moment(record.get("update_time")),
        metadata={key: value for key, value in record.items() if key not in ("mapping", "title")},
    )
    nodes = record.get("mapping")
    if not isinstance(nodes, dict):
        report.skipped = "it has no mapping of messages"
        return result
    reader = _Mapping(nodes, report)
    tree = grow(reader.messages, report)
    _pair_tools(tree)
    current = name(record.get("current_node"))
    current = current if current is None else reader.resolve.get(current, current)
    pointer = pointed(tree, current, "current_node", report)
    tell(result, tree, pointer, provider="openai", model=text(record.get("default_model_slug")))
    for call in result.calls:
        call.sent = _one_result_per_call(call.sent)
    return result


class _Mapping:
    """The mapping's nodes as messages; ``resolve`` gives the node for any of the ids it goes by."""

    def __init__(self, nodes: dict[str, Any], report: Report) -> None:
        self._report = report
        self.resolve = _aliases(nodes)
        self.messages = [self._message(key, node) for key, node in nodes.items() if self._is_node(key, node)]

    def _is_node(self, key: str, node: Any) -> bool:
        if isinstance(node, dict):
            return True
        self._report.note("unknown_content", f"entry {key!r} of the mapping is no node but {str(node)[:80]!r}")
        return False

    def _message(self, key: str, node: dict[str, Any]) -> Message:
        parent = name(node.get("parent"))
        listed = node.get("children")
        children = [name(child) or "" for child in listed] if isinstance(listed, list) else None
        message = _read(key, node.get("message"), self._report)
        message.parent = None if parent is None else self.resolve.get(parent, parent)
        message.children = None if children is None else [self.resolve.get(child, child) for child in children]
        message.key = self.resolve.get(key, key)
        own = name(node.get("id"))
        if own is not None and own != key:
            message.notes["mapping_key"] = key
        return message


def _aliases(nodes: dict[str, Any]) -> dict[str, str]:
    """Node ids, mapping keys and message ids, each to the node's key (its own id unless two share it)."""
    keys: dict[str, str] = {}
    taken: set[str] = set()
    for key, node in nodes.items():
        own = name(mapping(node).get("id"))
        keys[key] = own if own is not None and own not in taken and (own == key or own not in nodes) else key
        taken.add(keys[key])
    aliases = {own: own for own in keys.values()}
    for key, own in keys.items():
        aliases.setdefault(key, own)
    for key, node in nodes.items():
        message_id = name(mapping(mapping(node).get("message")).get("id"))
        if message_id is not None:
            aliases.setdefault(message_id, keys[key])
    return aliases


def _read(key: str, message: Any, report: Report) -> Message:
    """The message of one node, links left open."""
    if message is None:
        return Message(key, None, Side.NONE, [])
    if not isinstance(message, dict):
        report.note("unknown_content", f"the message of node {key!r} is no object; kept raw")
        return Message(key, None, Side.SENT, [raw_item({"message": message})])
    author = mapping(message.get("author"))
    role = text(author.get("role")) or ""
    content = message.get("content")
    kind = mapping(content).get("content_type")
    returned = role == "assistant" and kind != "model_editable_context"
    items, kept = items_of(key, message, role, kind, mapping(content))
    metadata = mapping(message.get("metadata"))
    notes = {field: value for field, value in message.items() if field != "content"}
    if items is None:
        report.note("unknown_content", f"node {key!r} has content of type {kind!r} by {role!r}; kept raw")
        items, notes = [raw_item(message)], {}
    elif rest := {field: value for field, value in mapping(content).items() if field not in kept}:
        notes["content"] = rest
    return Message(
        key,
        None,
        Side.RETURNED if returned else Side.SENT,
        items,
        question=role == "user" and kind not in CONTEXTS,
        created_at=moment(message.get("create_time")),
        finished_at=moment(message.get("update_time")),
        model=text(metadata.get("model_slug")),
        finish_reason=_finish(message, metadata),
        notes=notes,
    )


def _finish(message: dict[str, Any], metadata: dict[str, Any]) -> str | None:
    details = text(mapping(metadata.get("finish_details")).get("type"))
    status = text(message.get("status")) or ""
    if details is not None and details != "unknown":
        return _FINISH.get(details, details)
    if status in _UNFINISHED:
        return _UNFINISHED[status]
    return "stop" if message.get("end_turn") is True else None


def _pair_tools(tree: Tree) -> None:
    """Give each tool's message the id of the call it answers: the open one of its name, else the oldest open.

    With none open it is another message about the call that was answered last.
    """
    states: list[tuple[tuple[tuple[str, str], ...], tuple[str, str] | None]] = [((), None)] * len(tree.messages)
    for at in tree.walk():
        above = tree.parent[at]
        waiting, answered = states[above] if above >= 0 else ((), None)
        message = tree.messages[at]
        item = message.items[0] if message.items else {}
        if item.get("type") == "tool_call":
            item["call_id"] = message.key
            waiting = (*waiting[-_OPEN_CALLS:], (message.key, str(item["name"])))
        elif item.get("type") == "tool_result":
            tool = name(mapping(message.notes.get("author")).get("name"))
            named = [call for call in waiting if call[1] == tool]
            if waiting and (named or answered is None or answered[1] != tool):
                answered = (named or waiting)[0]
                waiting = tuple(call for call in waiting if call is not answered)
            item["call_id"] = answered[0] if answered is not None else message.key
        elif message.question:
            waiting, answered = (), None
        states[at] = waiting, answered


def _one_result_per_call(sent: Items) -> Items:
    """``sent`` with neighbouring results of one call joined into one of several parts."""
    joined: Items = []
    for item in sent:
        last = joined[-1] if joined else {}
        if item.get("type") == "tool_result" == last.get("type") and item["call_id"] == last["call_id"]:
            joined[-1] = last | {"output": _listed(last["output"]) + _listed(item["output"])}
        else:
            joined.append(item)
    return joined


def _listed(output: str | list[Part]) -> list[Part]:
    return [text_part(output)] if isinstance(output, str) else output
