"""A context path as a chain of segments, one a node, each knowing only the one before it.

Nodes never change once settled, so a longer context shares the segments of the shorter one it extends: their text,
the state of their pairing, and the running hash. Nothing here parses an item.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from graphstore.pairing import EMPTY, PairingState

if TYPE_CHECKING:
    from hashlib import _Hash


Owners = frozenset[tuple[str, int]]


class PathFacts(NamedTuple):
    """What holds for a path as a whole; nearly every node leaves it as it was above, so segments share one.

    ``owners`` are the conversations that own the path's nodes, each with how often data had been removed from it.
    ``unsettled`` are those of its nodes that may still be completed. ``exact`` says whether any of its text needs the
    exact parser.
    """

    pairing: PairingState
    owners: Owners
    unsettled: frozenset[str]
    exact: bool


class Segment:
    """One node's items on a context path, and what holds for the path from its top down to here.

    Made of the stored JSON arrays (``returned`` is ``"[]"`` while there is nothing). ``length`` is the number of their
    characters, ``size`` that of all from the top down to here, ``depth`` the number of nodes, ``root`` the topmost
    segment.
    """

    __slots__ = ("_arrays", "_hasher", "_texts", "depth", "facts", "length", "node_id", "parent", "root", "size")

    def __init__(self, parent: Segment | None, node_id: str, sent: str, returned: str, facts: PathFacts) -> None:
        self.parent = parent
        self.node_id = node_id
        self._arrays: tuple[str, str] | None = (sent, returned)
        self._texts: tuple[str, ...] = ()
        self.facts = facts
        self.length = len(sent) + len(returned)
        self._hasher: _Hash | None = None
        self.root: Segment
        self.depth: int
        self.size: int
        if parent is None:
            self.root, self.depth, self.size = self, 1, self.length
        else:
            self.root, self.depth, self.size = parent.root, parent.depth + 1, parent.size + self.length

    @property
    def texts(self) -> tuple[str, ...]:
        """The items' JSON without the arrays' brackets: what was sent, what was returned; what is empty left out.

        Cut out when first asked for, and kept instead of the arrays (in an order that two threads can't trip over).
        """
        arrays = self._arrays
        if arrays is not None:
            sent, returned = arrays[0][1:-1].strip(), arrays[1][1:-1].strip()
            self._texts = (sent, returned) if sent and returned else (sent or returned,) if sent or returned else ()
            self._arrays = None
        return self._texts

    def line(self) -> list[Segment]:
        """The segments from the top down to this one."""
        segments = []
        segment: Segment | None = self
        while segment is not None:
            segments.append(segment)
            segment = segment.parent
        segments.reverse()
        return segments

    @property
    def blank(self) -> bool:
        """Whether the path down to here has no items at all."""
        return self.size == self.depth * 2 * len(EMPTY_ARRAY)

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
        started = segment is not None and not segment.blank
        for segment in reversed(todo):
            for text in segment.texts:
                hasher.update((("," if started else "") + text).encode())
                started = True
        self._hasher = hasher
        return hasher


EMPTY_ARRAY = "[]"


def inner(array: str) -> str:
    """The text between a JSON array's brackets."""
    return array[1:-1].strip()


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
    above = _NOTHING if parent is None else parent.facts
    pairing = above.pairing
    if call_ids or result_ids:
        pairing = pairing.after(result_ids or (), call_ids or ())
    if not above.owners <= owners:
        owners = above.owners | owners
    unsettled = above.unsettled | {node_id} if returned is None else above.unsettled
    facts = PathFacts(pairing, owners, unsettled, exact or above.exact)
    return Segment(parent, node_id, sent, returned or EMPTY_ARRAY, facts)


_NOTHING = PathFacts(EMPTY, frozenset(), frozenset(), False)
