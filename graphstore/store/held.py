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
    """Everything held below one root (or compaction), for one set of readers.

    A path that was read anew is filed under its end alone; its other nodes are filed when somebody names one.
    """

    key: tuple[Readers, str]
    root: Segment
    segments: dict[str, Segment] = field(default_factory=dict)
    unfiled: list[Segment] = field(default_factory=list)
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
                if (readers, node_id) not in self._tree_of:
                    self._file_all(readers)
            trees = [(name, self._tree_of.get((readers, name))) for name in dict.fromkeys(names)]
            return [tree.segments[name] for name, tree in trees if tree is not None]

    def put(self, readers: Readers, conversation_id: str | None, segment: Segment) -> None:
        """Hold a context and everything above it."""
        key = (readers, segment.root.node_id)
        with self._lock:
            tree = self._trees.get(key)
            if tree is None or tree.root is not segment.root:  # a path read anew replaces what was held of its tree
                self._drop(tree)
                tree = _Tree(key, segment.root)
                cost = segment.size + _OVERHEAD * segment.depth
                fresh, unfiled = [segment], segment.depth > 1
            else:
                fresh, unfiled = self._not_held(tree, segment), False
                cost = sum(one.length + _OVERHEAD for one in fresh)
            if tree.size + cost > self._limit:
                self._drop(tree)
                return
            for one in fresh:
                self._file(tree, one)
            if unfiled:
                tree.unfiled.append(segment)
            tree.size += cost
            self.size += cost
            self._trees[key] = tree
            self._trees.move_to_end(key)
            self._remember(tree, conversation_id, segment.node_id)
            while self.size > self._limit:
                self._drop(next(iter(self._trees.values())))

    def _not_held(self, tree: _Tree, segment: Segment) -> list[Segment]:
        """The segments from ``segment`` up to the first that the tree holds, as it shares the tree's root."""
        if segment.parent is not None and tree.segments.get(segment.parent.node_id) is not segment.parent:
            self._file_tree(tree)
        fresh: list[Segment] = []
        step: Segment | None = segment
        while step is not None and tree.segments.get(step.node_id) is not step:
            fresh.append(step)
            step = step.parent
        return fresh

    def _file(self, tree: _Tree, segment: Segment) -> None:
        tree.segments[segment.node_id] = segment
        self._tree_of[tree.key[0], segment.node_id] = tree

    def _file_tree(self, tree: _Tree) -> None:
        for end in tree.unfiled:
            step = end.parent
            while step is not None and tree.segments.get(step.node_id) is not step:
                self._file(tree, step)
                step = step.parent
        tree.unfiled.clear()

    def _file_all(self, readers: Readers) -> None:
        for key, tree in self._trees.items():
            if key[0] == readers and tree.unfiled:
                self._file_tree(tree)

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
