"""Contexts that this process holds, so that it reads only what is new below them (rule A7).

Bounded in characters. Whole trees are let go at once, least recently used first: a segment keeps everything above it
alive, so letting go of single ones would free nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from graphstore.segments import Segment

Readers = tuple[str, ...]
_OVERHEAD = 700  # what a segment costs beside its text, in bytes, measured with sys.getsizeof
_CANDIDATES = 24  # how many held nodes are offered to the database as places to stop


class HeldContexts:
    """Segments by node, grouped by the tree they belong to; thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._trees: OrderedDict[tuple[Readers, str], dict[str, Segment]] = OrderedDict()
        self._sizes: dict[tuple[Readers, str], int] = {}
        self._tree_of: dict[tuple[Readers, str], str] = {}
        self._recent: OrderedDict[tuple[Readers, str], None] = OrderedDict()
        self._ends: dict[tuple[Readers, str], list[str]] = {}
        self.size = 0

    def get(self, readers: Readers, node_id: str) -> Segment | None:
        """The segment held for a node, if any."""
        with self._lock:
            top = self._tree_of.get((readers, node_id))
            if top is None:
                return None
            self._trees.move_to_end((readers, top))
            return self._trees[readers, top].get(node_id)

    def candidates(self, readers: Readers, conversation_id: str | None, node_id: str | None) -> list[Segment]:
        """Held segments at which a climb to this conversation's cursor, or this node, may well stop."""
        with self._lock:
            names: list[str] = [] if node_id is None else [node_id]
            if conversation_id is not None:
                names += self._ends.get((readers, conversation_id), [])
            else:
                names += [name for key, name in reversed(self._recent) if key == readers][:_CANDIDATES]
            found = []
            for name in dict.fromkeys(names):
                top = self._tree_of.get((readers, name))
                if top is not None:
                    found.append(self._trees[readers, top][name])
            return found

    def put(self, readers: Readers, conversation_id: str | None, segment: Segment) -> None:
        """Hold a context and everything above it."""
        fresh: list[Segment] = []
        step: Segment | None = segment
        with self._lock:
            while step is not None:
                top = self._tree_of.get((readers, step.node_id))
                if top is not None and self._trees[readers, top].get(step.node_id) is step:
                    break
                fresh.append(step)
                last, step = step, step.parent
            if step is not None:
                key = (readers, self._tree_of[readers, step.node_id])
            elif fresh:
                key = (readers, last.node_id)
                self._drop(key)
            else:
                return
            if fresh:
                cost = sum(len(one.text) + _OVERHEAD for one in fresh)
                if cost > self._limit:
                    return
                if self._sizes.get(key, 0) + cost > self._limit:
                    self._drop(key)
                    return
                tree = self._trees.setdefault(key, {})
                for one in fresh:
                    tree[one.node_id] = one
                    self._tree_of[readers, one.node_id] = key[1]
                self._sizes[key] = self._sizes.get(key, 0) + cost
                self.size += cost
            self._trees.move_to_end(key)
            self._remember(readers, conversation_id, segment.node_id)
            while self.size > self._limit:
                self._drop(next(iter(self._trees)))

    def forget(self, readers: Readers, segment: Segment) -> None:
        """Let go of the tree a segment belongs to (something on it was deleted or completed late)."""
        with self._lock:
            top = self._tree_of.get((readers, segment.node_id))
            if top is not None:
                self._drop((readers, top))

    def _remember(self, readers: Readers, conversation_id: str | None, node_id: str) -> None:
        self._recent[readers, node_id] = None
        self._recent.move_to_end((readers, node_id))
        while len(self._recent) > 4 * _CANDIDATES:
            self._recent.popitem(last=False)
        if conversation_id is not None:
            ends = self._ends.setdefault((readers, conversation_id), [])
            if node_id in ends:
                ends.remove(node_id)
            ends.insert(0, node_id)
            del ends[_CANDIDATES:]

    def _drop(self, key: tuple[Readers, str]) -> None:
        tree = self._trees.pop(key, None)
        if tree is None:
            return
        self.size -= self._sizes.pop(key)
        for name in tree:
            if self._tree_of.get((key[0], name)) == key[1]:
                del self._tree_of[key[0], name]
        for ends_key in [k for k, ends in self._ends.items() if any(name in tree for name in ends)]:
            left = [name for name in self._ends[ends_key] if name not in tree]
            if left:
                self._ends[ends_key] = left
            else:
                del self._ends[ends_key]
