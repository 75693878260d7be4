"""graphstore: as a recorder uses it (a call written whole), and as a program that begins a call before it is made."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from benchmarks.peers.peer import Peer, Refused, Servers, grow
from benchmarks.peers.workloads import Call, Message
from benchmarks.server import Neo4j, hold_nothing
from graphstore.errors import CursorMoved
from graphstore.items import ItemDict
from graphstore.store import Call as StoredCall
from graphstore.store import GraphStore, Recorder, Turn


@dataclass
class Native:
    """What a call sent and returned, as items."""

    sent: list[ItemDict]
    returned: list[ItemDict]
    first: bool
    last: bool


@dataclass
class Thread:
    """A conversation with its recorder; ``following`` tells which node came first after each."""

    id: str
    recorder: Recorder
    cursor: str | None = None
    turn: Turn | None = None
    following: dict[str | None, str] = field(default_factory=dict)

    def goes_to(self, place: str | None, node_id: str) -> None:
        """Take note of a call written after ``place``."""
        self.following.setdefault(place, node_id)
        self.cursor = node_id


class Graphstore(Peer):
    """A known call is one write, a branch is one read (of the settings at that place, with the path) and one write."""

    name: ClassVar[str] = "graphstore, recorded"
    packages = ("conversation-graphstore", "neo4j", "neo4j-rust-ext")
    warm_up = 500

    def __init__(self, servers: Servers, workspace: str | None = None, neo4j: Neo4j | None = None) -> None:
        super().__init__(servers)
        self._workspace = workspace or f"peers-{secrets.token_hex(3)}"
        self._neo4j = neo4j or servers.neo4j

    def open(self) -> None:
        self.store: GraphStore = self._neo4j.store(self._workspace)

    def close(self) -> None:
        self.store.close()

    def new_thread(self) -> Thread:
        return self._thread(self.store.create_conversation())

    def _thread(self, conversation_id: str) -> Thread:
        thread = Thread(conversation_id, self.store.recorder(conversation_id))
        thread.cursor = thread.recorder.look()
        return thread

    def native(self, call: Call) -> Native:
        return Native([_item(message) for message in call.sent], [_item(call.returned)], call.first, call.last)

    def append(self, thread: Thread, native: Native) -> None:
        try:
            written = thread.recorder.record(native.sent, native.returned, same_turn=not native.first)
        except CursorMoved:
            raise Refused from None
        thread.goes_to(thread.cursor, written)

    def branch(self, thread: Thread, place: str | None, native: Native) -> None:
        thread.goes_to(place, thread.recorder.record(native.sent, native.returned, after=place, reason="edit"))

    def place(self, thread: Thread) -> str | None:
        return thread.cursor

    def read(self, thread: Thread) -> list[ItemDict]:
        return self.store.context(thread.id).items

    def forget(self) -> None:
        hold_nothing(self.store)

    def hold_before_last_turn(self, thread: Thread) -> None:
        """As in a process that has sent everything up to the last turn, which has two calls in W1."""
        hold_nothing(self.store)
        above = self.store.path(thread.id)[-3].id
        self.store.context(node_id=above).body  # noqa: B018 - a process that has sent it has joined it

    def texts(self, read: Sequence[ItemDict]) -> list[str]:
        return [item.get("content") or item.get("output") or item["arguments"] for item in read]

    def switch(self, thread: Thread, place: str) -> None:
        thread.cursor = self.store.switch(thread.id, place)
        if thread.cursor != place:
            raise AssertionError("the branch has grown beyond that place")

    def siblings(self, thread: Thread, place: str) -> int:
        """The markers of the whole path have them; this is the one of the turn that follows the place."""
        first = thread.following[place]
        return next(one.count for one in self.store.markers(thread.id) if first in one.siblings)

    def size_alone(self, attempts: Sequence[Sequence[Sequence[Call]]]) -> int:
        """On a server of its own: files are only true when it has stopped, and that would cool the others' caches."""
        servers = self.servers
        with Neo4j(None, "disk", servers.heap_mb, servers.page_cache_mb) as alone:
            peer = type(self)(servers, neo4j=alone)
            peer.open()
            grow(peer, peer.new_thread(), attempts[:1])
            peer.close()
            empty = alone.bytes_at_rest()
            peer.open()
            grow(peer, peer.new_thread(), attempts)
            peer.close()
            return alone.bytes_at_rest() - empty

    def written(self) -> int:
        return self._neo4j.bytes_logged()

    def writer(self) -> Graphstore:
        other = type(self)(self.servers, self._workspace)
        other.open()
        return other

    def seen(self, thread: Thread) -> Thread:
        return self._thread(thread.id)

    def kept(self, thread: Thread) -> set[str]:
        """The accepted path, and each branch that is listed as unseen."""
        ends = [branch.node_id for branch in self.store.unseen_branches(thread.id)]
        contexts = [self.store.context(thread.id), *(self.store.context(node_id=end) for end in ends)]
        return {text for context in contexts for text in self.texts(context.items)}


class GraphstoreTurns(Graphstore):
    """Two writes a call: pending before it is made, completed after it. Old places are branched from as a user does."""

    name = "graphstore, begun and completed"
    workloads = ("W1", "W2")

    def append(self, thread: Thread, native: Native) -> None:
        if thread.turn is None or native.first:
            thread.turn = self.store.turn(thread.id)
        self._settle(thread, thread.turn.call(native.sent), native)

    def branch(self, thread: Thread, place: str | None, native: Native) -> None:
        """The question that followed the place is asked anew, with its text replaced."""
        turn = self.store.edit(thread.id, thread.following[place], native.sent[0]["content"])
        thread.turn = turn
        self._settle(thread, turn.current, native)

    def _settle(self, thread: Thread, call: StoredCall, native: Native) -> None:
        call.succeed(native.returned, end_turn=native.last)
        thread.goes_to(call.context.node_id, call.id)


def _item(message: Message) -> ItemDict:
    match message.role:
        case "tool_call":
            return {"type": "tool_call", "call_id": message.call_id, "name": "search", "arguments": message.text}
        case "tool_result":
            return {"type": "tool_result", "call_id": message.call_id, "output": message.text}
        case role:
            return {"type": "message", "role": role, "content": message.text}
