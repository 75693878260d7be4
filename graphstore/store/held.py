"""Contexts that this process holds, so that it reads only what is new below them (rule A7).

Bounded in characters. Whole trees are let go at once, least recently used first: a segment keeps everything above it
alive, so letting go of single ones would free nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from graphstore.segments import Segment

Readers = tuple[str, ...]
_OVERHEAD = 700  # what a segment costs beside its text, in bytes, by sys.getsizeof of its parts
_CANDIDATES = 24  # how many held nodes are offered to the database as places to stop


@dataclass
class _Tree:
    """Everything held below one root (or compaction), for one set of readers."""

    key: tuple[Readers, str]
    segments: dict[str, Segment] = field(default_factory=dict)
    conversations: set[str] = field(default_factory=set)
    size: int = 0


class HeldContexts:
    """Segments by node, grouped by the tree they belong to; thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._trees: OrderedDict[tuple[Readers, str], _Tree] = OrderedDict()
        self._tree_of: dict[tuple[Readers, str], _Tree] = {}
        self._ends: dict[tuple[Readers, str], list[str]] = {}
        self._recent: OrderedDict[tuple[Readers, str], None] = OrderedDict()
        self.size = 0

    def candidates(self, readers: Readers, conversation_id: str | None, node_id: str | None) -> list[Segment]:
        """Held segments at which a climb to this conversation's cursor, or this node, may well stop."""
        with self._lock:
            if conversation_id is not None:
                names = self._ends.get((readers, conversation_id), [])
            else:
                recent = [name for key, name in reversed(self._recent) if key == readers]
                names = [*([] if node_id is None else [node_id]), *recent[:_CANDIDATES]]
            trees = [(name, self._tree_of.get((readers, name))) for name in dict.fromkeys(names)]
            return [tree.segments[name] for name, tree in trees if tree is not None]

    def put(self, readers: Readers, conversation_id: str | None, segment: Segment) -> None:
        """Hold a context and everything above it."""
        with self._lock:
            fresh: list[Segment] = []
            step: Segment | None = segment
            tree: _Tree | None = None
            while step is not None:
                tree = self._tree_of.get((readers, step.node_id))
                if tree is not None and tree.segments[step.node_id] is step:
                    break
                fresh.append(step)
                step = step.parent
            if step is None:  # a path read anew replaces what was held of its tree
                tree = _Tree((readers, fresh[-1].node_id))
                self._drop(self._trees.get(tree.key))
            assert tree is not None
            cost = segment.size - (0 if step is None else step.size) + _OVERHEAD * len(fresh)
            if tree.size + cost > self._limit:
                self._drop(self._trees.get(tree.key))
                return
            for one in fresh:
                tree.segments[one.node_id] = one
                self._tree_of[readers, one.node_id] = tree
            tree.size += cost
            self.size += cost
            self._trees[tree.key] = tree
            self._trees.move_to_end(tree.key)
            self._remember(tree, conversation_id, segment.node_id)
            while self.size > self._limit:
                self._drop(next(iter(self._trees.values())))

    def forget(self, readers: Readers, segment: Segment) -> None:
        """Let go of the tree a segment belongs to (something on it was deleted or completed late)."""
        with self._lock:
            self._drop(self._tree_of.get((readers, segment.node_id)))

    def _remember(self, tree: _Tree, conversation_id: str | None, node_id: str) -> None:
        readers = tree.key[0]
        self._recent[readers, node_id] = None
        self._recent.move_to_end((readers, node_id))
        while len(self._recent) > 4 * _CANDIDATES:
            self._recent.popitem(last=False)
        if conversation_id is not None:
            tree.conversations.add(conversation_id)
            ends = self._ends.setdefault((readers, conversation_id), [])
            if node_id in ends:
                ends.remove(node_id)
            ends.insert(0, node_id)
            del ends[_CANDIDATES:]

    def _drop(self, tree: _Tree | None) -> None:
        if tree is None or self._trees.pop(tree.key, None) is None:
            return
        readers = tree.key[0]
        self.size -= tree.size
        for name in tree.segments:
            if self._tree_of.get((readers, name)) is tree:
                del self._tree_of[readers, name]
        for conversation_id in tree.conversations:
            left = [name for name in self._ends.get((readers, conversation_id), []) if name not in tree.segments]
            if left:
                self._ends[readers, conversation_id] = left
            else:
                self._ends.pop((readers, conversation_id), None)
