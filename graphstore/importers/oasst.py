"""OpenAssistant (OASST1 and OASST2): message trees, flat messages, linear threads, one JSON object a line.

Which of the three a row is, is told by its keys. Flat messages of one tree may stand anywhere in the file: a
first pass notes where each tree ends, so that the second holds only the trees that are still open.

Replies are ranked by people (0 is best) but no reply is marked as the current one, so the cursor follows the
best-ranked replies (the first where none is ranked; deleted and rejected ones last) and counts as guessed.
Everything beside the text (rank, labels, language, review, emojis, …) is in ``metadata["messages"]`` by id, and
the rank of a call's reply also in ``metadata["rank"]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from graphstore.importers.fields import array, mapping, moment, name, text
from graphstore.importers.messages import Message, Side, Tree, grow
from graphstore.importers.records import ImportedConversation, Report
from graphstore.importers.told import tell

SOURCE = "oasst"

_ROLES = {"prompter": "user", "assistant": "assistant"}
_NOWHERE = ("", "None")  # an old draft of the format wrote the string "None" for a root


def is_tree(row: Any) -> bool:
    """Whether ``row`` is a whole tree, its replies nested."""
    return isinstance(row, dict) and "message_tree_id" in row and isinstance(row.get("prompt"), dict)


def is_thread(row: Any) -> bool:
    """Whether ``row`` is a linear thread."""
    return isinstance(row, dict) and "thread_id" in row and isinstance(row.get("thread"), list)


def is_message(row: Any) -> bool:
    """Whether ``row`` is one message of a tree that stands row by row."""
    return isinstance(row, dict) and "message_id" in row and row.get("role") in _ROLES and "text" in row


def recognises(row: Any) -> bool:
    """Whether ``row`` is any row of this format."""
    return is_tree(row) or is_thread(row) or is_message(row)


def conversation(row: Any, report: Report) -> ImportedConversation:
    """The conversation of a tree or thread row."""
    if is_tree(row):
        return _conversation(row, name(row["message_tree_id"]), _nested(row["prompt"], report), "prompt", report)
    if is_thread(row):
        return _conversation(row, name(row["thread_id"]), _linear(row["thread"], report), "thread", report)
    report.skipped = "it is neither a tree, a thread nor a message"
    return ImportedConversation(SOURCE, report.source_id or "", report)


def conversation_of_messages(rows: list[dict[str, Any]], report: Report) -> ImportedConversation:
    """The conversation of all the flat rows of one tree."""
    messages = [_message(row, name(row.get("parent_id")), report) for row in rows]
    tree_id = tree_of(rows[0])
    about: dict[str, Any] = {key: rows[0][key] for key in ("message_tree_id", "tree_state") if key in rows[0]}
    return _conversation(about, tree_id, messages, "", report)


def tree_of(row: dict[str, Any]) -> str | None:
    """The id of a flat row's tree; of a root, its own where it names none."""
    return name(row.get("message_tree_id")) or name(row.get("parent_id")) or name(row.get("message_id"))


def last_rows(rows: Iterator[tuple[int, Any]]) -> dict[str, int]:
    """For each tree that stands row by row, the number of its last row."""
    last: dict[str, int] = {}
    for number, row in rows:
        if not is_tree(row) and is_message(row) and (tree_id := tree_of(row)) is not None:
            last[tree_id] = number
    return last


def _conversation(
    about: dict[str, Any], source_id: str | None, messages: list[Message], content: str, report: Report
) -> ImportedConversation:
    report.source_id = source_id or report.source_id
    tree = grow(messages, report)
    pointer = _best_leaf(tree)
    if pointer is not None:
        report.note("guessed_leaf", "no reply is marked as the current one; the best-ranked path is taken")
    first = tree.messages[tree.roots[0]].created_at if tree.roots else None
    result = ImportedConversation(
        SOURCE,
        report.source_id or "",
        report,
        created_at=first,
        cursor_guessed=pointer is not None,
        metadata={key: value for key, value in about.items() if key != content},
    )
    for call in tell(result, tree, pointer).calls:
        ranks = [mapping(call.metadata.get("messages")).get(key, {}).get("rank") for key in call.returned_keys]
        if ranks and ranks[-1] is not None:
            call.metadata["rank"] = ranks[-1]
    return result


def _nested(prompt: dict[str, Any], report: Report) -> list[Message]:
    messages = []
    stack: list[tuple[Any, str | None]] = [(prompt, None)]
    while stack:
        row, parent = stack.pop()
        if not isinstance(row, dict):
            report.note("unknown_content", f"a reply to {parent!r} is no object but {str(row)[:80]!r}")
            continue
        message = _message(row, parent, report)
        message.children = [name(mapping(reply).get("message_id")) or "" for reply in array(row.get("replies"))]
        messages.append(message)
        stack.extend((reply, message.key) for reply in reversed(array(row.get("replies"))))
    return messages


def _linear(rows: list[Any], report: Report) -> list[Message]:
    messages: list[Message] = []
    for row in rows:
        parent = messages[-1].key if messages else None
        messages.append(_message(mapping(row), parent, report))
    return messages


def _message(row: dict[str, Any], parent: str | None, report: Report) -> Message:
    key = name(row.get("message_id")) or "unnamed"
    role = _ROLES.get(text(row.get("role")) or "")
    said = row.get("text")
    if role is None or not isinstance(said, str):
        report.note("unknown_content", f"message {key!r} has no known role or no text; kept raw")
        items = [{"type": "raw", "format": SOURCE, "data": row}]
    else:
        items = [{"type": "message", "role": role, "content": said}]
    if row.get("deleted") is True:
        report.note("deleted", f"message {key!r} was deleted in the source; kept, as the source keeps it")
    if row.get("review_result") is False:
        report.note("rejected", f"message {key!r} was rejected as spam in the source; kept, as the source keeps it")
    return Message(
        key,
        None if parent in _NOWHERE else parent,
        Side.RETURNED if role == "assistant" else Side.SENT,
        items,
        question=role == "user",
        created_at=moment(row.get("created_date")),
        model=text(row.get("model_name")),
        notes={field: value for field, value in row.items() if field not in ("text", "replies", "prompt", "thread")},
    )


def _best_leaf(tree: Tree) -> int | None:
    """The leaf reached by the best-ranked message at each step."""
    best = None
    below = tree.roots
    while below:
        best = min(below, key=lambda at: _worth(tree.messages[at]))
        below = tree.children[best]
    return best


def _worth(message: Message) -> tuple[bool, bool, float]:
    rank = message.notes.get("rank")
    ranked = isinstance(rank, int | float)
    refused = message.notes.get("deleted") is True or message.notes.get("review_result") is False
    return refused, not ranked, float(rank) if isinstance(rank, int | float) else 0.0


def grouped(
    rows: Callable[[], Iterator[tuple[int, Any]]],
) -> Iterator[tuple[int, Any]]:
    """Rows, with the flat messages of one tree as one list, given out at its last row."""
    last = last_rows(rows())
    waiting: dict[str, list[dict[str, Any]]] = {}
    for number, row in rows():
        if is_tree(row) or not is_message(row) or (tree_id := tree_of(row)) is None:
            yield number, row
            continue
        waiting.setdefault(tree_id, []).append(row)
        if last[tree_id] == number:
            yield number, waiting.pop(tree_id)
