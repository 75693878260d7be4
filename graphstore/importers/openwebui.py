"""Open WebUI's chats: a record of ``/api/v1/chats/all``, or the bare ``chat`` object that people pass on.

``chat.history.messages`` is the tree and ``history.currentId`` its active leaf. ``chat.messages`` is a copy of one path
of it, often an old one, so it is read only where there is no history. Regenerated answers and those of several models
asked at once are children of one question. Reasoning and tools are in ``output``; older versions have them as
``<details>`` in the text (``details``).

A chat that Open WebUI itself made of a ChatGPT export names as each message's parent just the message before it in the
file, while the lists of children still are the original ones. There, and only there, the lists are the truth.
"""

from __future__ import annotations

from typing import Any

from graphstore.importers import openwebui_content as content_of
from graphstore.importers.fields import array, mapping, moment, name, text
from graphstore.importers.messages import Message, Side, grow
from graphstore.importers.pieces import Gathered, Pieces
from graphstore.importers.records import ImportedConversation, Report
from graphstore.importers.told import pointed, tell

SOURCE = content_of.SOURCE

_LINKS = ("id", "parentId", "childrenIds", "role")
_SHOWN = ("history", "messages", "title", "id")


def recognises(record: Any) -> bool:
    """Whether ``record`` is a chat, as exported or bare."""
    chat = _chat(record)
    return isinstance(mapping(chat.get("history")).get("messages"), dict) or (
        isinstance(mapping(record).get("chat"), dict) and isinstance(chat.get("messages"), list)
    )


def conversation(record: Any, report: Report) -> ImportedConversation:
    """One chat; ``report.skipped`` says why if there is nothing to read in it."""
    chat = _chat(record)
    report.title = text(record.get("title")) or text(chat.get("title"))
    history = mapping(chat.get("history"))
    entries = _entries(history, chat, report)
    first = entries[0][0] if entries else None
    report.source_id = name(record.get("id")) or name(chat.get("id")) or first or report.source_id
    about = {key: value for key, value in chat.items() if key not in _SHOWN}
    whole = record is not chat
    result = ImportedConversation(
        SOURCE,
        report.source_id or "",
        report,
        title=report.title,
        created_at=moment(record.get("created_at") if whole else chat.get("timestamp")),
        updated_at=moment(record.get("updated_at")) if whole else None,
        metadata={key: value for key, value in record.items() if key not in ("chat", "title")} | {"chat": about}
        if whole
        else {"chat": about},
    )
    if not entries:
        report.skipped = "it has no messages"
        return result
    gathered, resolve = _gathered(entries, report)
    tree = grow(gathered.messages(), report)
    current = name(history.get("currentId")) if history else entries[-1][0]
    current = current if current is None else resolve.get(current, current)
    current = current if current is None else gathered.ends.get(current, current)
    pointer = pointed(tree, current, "history.currentId", report)
    return tell(result, tree, pointer, system=text(mapping(chat.get("params")).get("system")) or None)


def _chat(record: Any) -> dict[str, Any]:
    record = mapping(record)
    chat: dict[str, Any] = record["chat"] if isinstance(record.get("chat"), dict) else record
    return chat


def _entries(history: dict[str, Any], chat: dict[str, Any], report: Report) -> list[tuple[str, dict[str, Any]]]:
    """The messages with their keys: those of the history, else the list as one line."""
    entries: list[tuple[str, dict[str, Any]]] = []
    messages = history.get("messages")
    if isinstance(messages, dict):
        for key, message in messages.items():
            if isinstance(message, dict):
                entries.append((key, message))
            else:
                report.note("unknown_content", f"message {key!r} is no object but {str(message)[:80]!r}")
        return entries
    linked = any("parentId" in mapping(message) for message in array(chat.get("messages")))
    for number, message in enumerate(array(chat.get("messages"))):
        if not isinstance(message, dict):
            report.note("unknown_content", f"message {number} is no object but {str(message)[:80]!r}")
            continue
        key = name(message.get("id")) or f"message-{number}"
        entries.append((key, message if linked else message | {"parentId": entries[-1][0] if entries else None}))
    return entries


def _gathered(entries: list[tuple[str, dict[str, Any]]], report: Report) -> tuple[Gathered, dict[str, str]]:
    """The messages, and for every id that one goes by its key."""
    resolve = {key: key for key, _ in entries}
    for key, message in entries:
        if (own := name(message.get("id"))) is not None:
            resolve.setdefault(own, key)
    listed = _unwelded(entries, resolve)
    if listed is not None:
        report.note("wrong_parents", "parents only repeat the order of the file; the lists of children are used")
    gathered = Gathered(report)
    for key, message in entries:
        free = gathered.key(key, message)
        if free is None:
            continue
        parent = name(message.get("parentId")) if listed is None else listed.get(key)
        given = message.get("childrenIds")
        children = [resolve.get(name(child) or "", name(child) or "") for child in array(given)]
        gathered.add(
            _read(free, message, report),
            None if parent is None else resolve.get(parent, parent),
            children if isinstance(given, list) else None,
        )
    return gathered, resolve


def _unwelded(entries: list[tuple[str, dict[str, Any]]], resolve: dict[str, str]) -> dict[str, str] | None:
    """Parents by the lists of children, if those are a tree and the parents given only say what stood before."""
    place = {key: at for at, (key, _) in enumerate(entries)}
    for at, (_, message) in enumerate(entries[1:], 1):
        if resolve.get(name(message.get("parentId")) or "") != entries[at - 1][0]:
            return None
    parents: dict[str, str] = {}
    for key, message in entries:
        for child in array(message.get("childrenIds")):
            below = resolve.get(name(child) or "")
            if below is None:
                continue
            if place[below] <= place[key] or below in parents:
                return None
            parents[below] = key
    if all(place[child] == place[above] + 1 for child, above in parents.items()):
        return None  # the same chain, or no lists to speak of
    whole = all(key in parents or message.get("role") == "user" for key, message in entries)
    return parents if whole else None


def _read(key: str, message: dict[str, Any], report: Report) -> list[Message]:
    role = _role(message)
    pieces = Pieces(key)
    said: tuple[str, ...] = ()
    error = content_of.error_of(message) if role == "assistant" else None
    finish = None
    if role is None and message.get("content") in (None, "", []):
        report.note("unknown_content", f"message {key!r} has neither a role nor content; only its links are used")
        pieces.add(Side.NONE, [])
    elif role is None:
        report.note("unknown_content", f"message {key!r} has the role {message.get('role')!r}; kept raw")
        pieces.add(Side.SENT, [{"type": "raw", "format": SOURCE, "data": message}])
    elif role != "assistant":
        items, said = content_of.question(message, role, report)
        pieces.add(Side.SENT, items).question = role == "user"
    elif _silent(message) and error is not None:
        pieces.add(Side.RETURNED, []).failure = error
    elif _silent(message) and message.get("done") is not True:
        pieces.add(Side.NONE, [])  # a place kept for an answer that has not come yet
    else:
        runs, said = content_of.answer(key, message, report)
        for side, items in runs:
            pieces.add(side, items)
        finish = "error" if error is not None else "incomplete" if message.get("done") is False else None
    for piece in pieces.messages:
        piece.created_at = moment(message.get("timestamp"))
        piece.model = text(message.get("model")) if role == "assistant" else None
    if pieces.messages[-1].side is Side.RETURNED:
        pieces.messages[-1].finish_reason = finish
    if role is not None:
        pieces.messages[0].notes = {
            field: value for field, value in message.items() if field not in _LINKS and field not in said
        }
    return pieces.messages


def _silent(message: dict[str, Any]) -> bool:
    return not any(message.get(field) for field in ("content", "output", "files"))


def _role(message: dict[str, Any]) -> str | None:
    role = message.get("role")
    if role in ("user", "assistant", "system"):
        return str(role)
    if role is None and message.get("content"):  # a few versions left it out; what else is there tells
        return "assistant" if "model" in message else "user" if "models" in message else None
    return None
