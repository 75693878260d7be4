"""Messages that hold several calls of a model: text, a tool's call, its result, text again.

Such a message is cut before and after each run of results. The first piece goes by the message's own id, the next by
``<id>:1`` and so on, so that a message that grew keeps the keys it had. Links of the source name whole messages: who
hangs under one hangs under its last piece.
"""

from __future__ import annotations

from typing import Any

from graphstore.importers.messages import Message, Side
from graphstore.importers.records import Items, Report


class Pieces:
    """One message of a source in runs of what was sent and what was returned."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.messages: list[Message] = []

    def add(self, side: Side, items: Items) -> Message:
        """Put items behind what is there: in the last piece, or in a new one if that is of the other side."""
        if not self.messages or self.messages[-1].side is not side:
            number = len(self.messages)
            key = f"{self.key}:{number}" if number else self.key
            self.messages.append(Message(key, self.messages[-1].key if number else None, side, []))
        self.messages[-1].items.extend(items)
        return self.messages[-1]


class Gathered:
    """The messages of a conversation in the source's order, some of them in pieces, with links that fit."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._seen: dict[str, Any] = {}
        self._first: list[tuple[Message, str | None]] = []
        self._messages: list[Message] = []
        self.ends: dict[str, str] = {}
        """For each message of the source, the key of its last piece."""

    def key(self, key: str, record: Any) -> str | None:
        """A key that no other message has; ``None`` if the very same record was read under it before."""
        if key not in self._seen:
            self._seen[key] = record
            return key
        if self._seen[key] == record:
            self._report.note("duplicate_id", f"message {key!r} stands there twice, the same; read once")
            return None
        number = 2
        while (free := f"{key}#{number}") in self._seen:
            number += 1
        self._report.note("duplicate_id", f"two messages have the id {key!r}; the later one is kept as {free!r}")
        self._seen[free] = record
        return free

    def add(self, pieces: list[Message], parent: str | None, children: list[str] | None = None) -> None:
        """Add one message of the source, which says these are its parent and its children."""
        self._first.append((pieces[0], parent))
        self.ends[pieces[0].key] = pieces[-1].key
        pieces[-1].children = children
        self._messages.extend(pieces)

    def messages(self) -> list[Message]:
        """All of them, ready for ``messages.grow``."""
        for first, parent in self._first:
            first.parent = None if parent is None else self.ends.get(parent, parent)
        return self._messages
