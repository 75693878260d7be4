"""A tree of messages, whatever an export says: broken links are repaired and every repair is noted.

Parent links are the truth. A list of children only orders siblings and mends a missing or unknown parent. What
can't be attached becomes a root of its own, so that nothing is lost. Everything here is linear and iterative.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from graphstore.importers.records import Items, Report


class Side(Enum):
    """Where a message belongs in a call. ``NONE`` holds nothing (an empty root): only its links matter."""

    SENT = "sent"
    RETURNED = "returned"
    NONE = "none"


@dataclass(slots=True)
class Message:
    """One message of a source, already in neutral items; ``parent`` and ``children`` are what the source claims.

    ``question`` marks a user's own message: it begins a turn. ``notes`` is what of the source's message the
    items don't hold. ``failure`` is why the model returned nothing, where a message stands for that. ``whole`` says
    that a returned message is all that one call returned. ``compacts`` makes a message the compacted context of the
    path that ends at its parent: it names those who can read it.
    """

    key: str
    parent: str | None
    side: Side
    items: Items
    question: bool = False
    children: list[str] | None = None
    created_at: datetime | None = None
    finished_at: datetime | None = None
    model: str | None = None
    finish_reason: str | None = None
    failure: str | None = None
    usage: dict[str, Any] | None = None
    whole: bool = False
    compacts: list[str] | None = None
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Tree:
    """Messages with clean links, by position in ``messages``: ``parent`` (-1: a root) and ordered ``children``."""

    messages: list[Message]
    parent: list[int]
    children: list[list[int]]
    roots: list[int]
    position: dict[str, int]

    def newest_leaf(self) -> int | None:
        """The leaf with the latest time (its nearest ancestor's where it has none); ties go to the later one."""
        moments: list[float] = [0.0] * len(self.messages)
        best: tuple[float, int] | None = None
        for at in self.walk():
            moment = self.messages[at].created_at
            above = self.parent[at]
            inherited = moments[above] if above >= 0 else float("-inf")
            moments[at] = moment.timestamp() if moment is not None else inherited
            if not self.children[at] and (best is None or (moments[at], at) > best):
                best = (moments[at], at)
        return None if best is None else best[1]

    def walk(self) -> list[int]:
        """Every position, parents before children, siblings in order, branch by branch."""
        order = []
        stack = self.roots[::-1]
        while stack:
            at = stack.pop()
            order.append(at)
            stack.extend(reversed(self.children[at]))
        return order


def grow(messages: list[Message], report: Report) -> Tree:
    """The tree of ``messages`` (in the source's order), with every repair noted in ``report``."""
    messages = _distinct(messages, report)
    position = {message.key: at for at, message in enumerate(messages)}
    listed = _listed(messages, position)
    parent = [_parent(message, position, listed, report) for message in messages]
    _cut_cycles(messages, parent, report)
    children = _ordered_children(messages, parent, position, report)
    roots = _by_time(messages, [at for at, above in enumerate(parent) if above < 0])
    if len(roots) > 1:
        report.note("several_roots", f"{len(roots)} messages have no parent; each begins a branch of its own")
    return Tree(messages, parent, children, roots, position)


def _distinct(messages: list[Message], report: Report) -> list[Message]:
    """Messages with distinct keys: an exact repetition goes, another message with a used id gets its own."""
    seen: dict[str, Message] = {}
    for message in messages:
        first = seen.get(message.key)
        if first is None:
            seen[message.key] = message
            continue
        if first == message:
            report.note("duplicate_id", f"message {message.key!r} stands there twice, the same; read once")
            continue
        number = 2
        while (key := f"{message.key}#{number}") in seen:
            number += 1
        report.note("duplicate_id", f"two messages have the id {message.key!r}; the later one is kept as {key!r}")
        message.key = key
        seen[key] = message
    return list(seen.values())


def _listed(messages: list[Message], position: dict[str, int]) -> dict[str, int]:
    """For each key that stands in a list of children, the first message that lists it."""
    listed: dict[str, int] = {}
    for at, message in enumerate(messages):
        for child in message.children or ():
            if child in position:
                listed.setdefault(child, at)
    return listed


def _parent(message: Message, position: dict[str, int], listed: dict[str, int], report: Report) -> int:
    if message.parent is not None:
        at = position.get(message.parent)
        if at is not None:
            return at
    by_list = listed.get(message.key, -1)
    if message.parent is not None:
        where = "its place in a list of children is used" if by_list >= 0 else "it begins a branch of its own"
        report.note("orphan", f"message {message.key!r} names an unknown parent {message.parent!r}; {where}")
    elif by_list >= 0:
        report.note("orphan", f"message {message.key!r} names no parent; its place in a list of children is used")
    return by_list


def _cut_cycles(messages: list[Message], parent: list[int], report: Report) -> None:
    """Make the first message (in the source's order) of each cycle of parents a root."""
    done = bytearray(len(parent))
    for start in range(len(parent)):
        trail = []
        at = start
        while at >= 0 and not done[at]:
            done[at] = 1
            trail.append(at)
            at = parent[at]
        if at >= 0 and done[at] == 1:  # met the trail being walked: settled ones carry 2
            first = min(trail[trail.index(at) :])
            report.note("cycle", f"message {messages[first].key!r} is its own ancestor; it begins a branch instead")
            parent[first] = -1
        for passed in trail:
            done[passed] = 2


def _ordered_children(
    messages: list[Message], parent: list[int], position: dict[str, int], report: Report
) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in messages]
    for at, above in enumerate(parent):
        if above >= 0:
            children[above].append(at)
    for at, message in enumerate(messages):
        real = children[at]
        if message.children is None:
            children[at] = _by_time(messages, real)
            continue
        own = set(real)
        named = dict.fromkeys(position[key] for key in message.children if key in position)
        kept = [child for child in named if child in own]
        if len(kept) != len(real) or len(kept) != len(message.children):
            report.note(
                "wrong_children", f"the list of children of message {message.key!r} disagrees with their parents"
            )
        children[at] = kept + _by_time(messages, [child for child in real if child not in named])
    return children


def _by_time(messages: list[Message], siblings: list[int]) -> list[int]:
    """Siblings oldest first; in the source's order where any of them has no time."""
    if len(siblings) < 2:
        return siblings
    moments = {at: moment for at in siblings if (moment := messages[at].created_at) is not None}
    if len(moments) < len(siblings):
        return siblings
    return sorted(siblings, key=lambda at: (moments[at], at))
