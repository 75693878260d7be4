"""A context path as a chain of segments, one a node, each knowing only the one before it.

Nodes never change once settled, so a longer context shares the segments of the shorter one it extends: their text,
the state of their pairing, and the running hash. Nothing here parses an item.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from graphstore.pairing import EMPTY, PairingState

if TYPE_CHECKING:
    from hashlib import _Hash


Owners = frozenset[tuple[str, int]]


class Segment:
    """One node's items on a context path, and what holds for the path from its top down to here.

    ``text`` is the items' JSON without the array's brackets (empty: none). ``owners`` are the conversations that own
    the path's nodes, each with how often data had been removed from it. ``unsettled`` are those of its nodes that may
    still be completed. ``exact`` says whether any of its text needs the exact parser, ``size`` is the number of
    characters from the top down to here, ``depth`` that of nodes, and ``root`` the topmost segment.
    """

    __slots__ = (
        "_hasher",
        "depth",
        "exact",
        "node_id",
        "owners",
        "pairing",
        "parent",
        "root",
        "size",
        "text",
        "unsettled",
    )

    def __init__(
        self,
        parent: Segment | None,
        node_id: str,
        text: str,
        pairing: PairingState,
        owners: Owners,
        unsettled: frozenset[str],
        exact: bool,
    ) -> None:
        self.parent = parent
        self.node_id = node_id
        self.text = text
        self.pairing = pairing
        self.owners = owners
        self.unsettled = unsettled
        self.exact = exact
        self._hasher: _Hash | None = None
        self.root: Segment
        self.depth: int
        self.size: int
        if parent is None:
            self.root, self.depth, self.size = self, 1, len(text)
        else:
            self.root, self.depth, self.size = parent.root, parent.depth + 1, parent.size + len(text)

    def line(self) -> list[Segment]:
        """The segments from the top down to this one."""
        segments = []
        segment: Segment | None = self
        while segment is not None:
            segments.append(segment)
            segment = segment.parent
        segments.reverse()
        return segments

    def hasher(self) -> _Hash:
        """A SHA-256 that has taken in the path's items as joined; copy it before going on.

        Kept at this segment, so that a context below it hashes only what is new.
        """
        if self._hasher is not None:
            return self._hasher
        todo: list[Segment] = []
        segment: Segment | None = self
        while segment is not None and segment._hasher is None:
            todo.append(segment)
            segment = segment.parent
        hasher = hashlib.sha256() if segment is None else segment.hasher().copy()
        started = segment is not None and segment.size > 0
        for segment in reversed(todo):
            if segment.text:
                hasher.update((("," if started else "") + segment.text).encode())
                started = True
        self._hasher = hasher
        return hasher


def joined(sent: str, returned: str | None) -> str:
    """The inner text of two JSON arrays, one after the other; ``None`` counts as empty."""
    first = sent[1:-1].strip() if len(sent) > 2 else ""
    second = returned[1:-1].strip() if returned is not None and len(returned) > 2 else ""
    if first and second:
        return f"{first},{second}"
    return first or second


def extended(
    parent: Segment | None,
    node_id: str,
    owners: Owners,
    sent: str,
    returned: str | None,
    call_ids: list[str] | None,
    result_ids: list[str] | None,
    exact: bool,
) -> Segment:
    """The segment of one more node below ``parent``; ``returned`` is ``None`` while the node may be completed."""
    if parent is None:
        pairing, unsettled = EMPTY, frozenset[str]()
    else:
        pairing, unsettled = parent.pairing, parent.unsettled
        exact = exact or parent.exact
        if parent.owners is not owners and not parent.owners <= owners:
            owners = parent.owners | owners
    if call_ids or result_ids:
        pairing = pairing.after(result_ids or (), call_ids or ())
    if returned is None:
        unsettled = unsettled | {node_id}
    return Segment(parent, node_id, joined(sent, returned), pairing, owners, unsettled, exact)


def plainly_extended(parent: Segment, node_id: str, sent: str, returned: str) -> Segment:
    """As ``extended``, for a settled node with no tool calls and no exact text, whose parent names all owners."""
    first, second = sent[1:-1].strip(), returned[1:-1].strip()
    text = f"{first},{second}" if first and second else first or second
    return Segment(parent, node_id, text, parent.pairing, parent.owners, parent.unsettled, parent.exact)
