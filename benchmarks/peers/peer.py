"""What a store has to offer to take part. Whatever is timed is one method; the rest is not."""

from __future__ import annotations

import importlib.metadata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from benchmarks.peers.workloads import Call
from benchmarks.postgres import Postgres
from benchmarks.server import Neo4j

WORKLOADS = ("W1", "W2", "W3", "race")


class Refused(Exception):
    """The store refused a call because the end of the conversation had moved."""


@dataclass(frozen=True)
class Servers:
    """The servers of this run: one PostgreSQL, one Neo4j, and how another Neo4j is made."""

    postgres: Postgres
    neo4j: Neo4j
    heap_mb: int
    page_cache_mb: int


class Peer(ABC):
    """One store, opened for one run. A *thread* is a conversation as a client holds it, a *place* a call in it.

    ``packages`` are the distributions whose versions are reported. ``workloads`` are those it can take part in.
    """

    name: ClassVar[str]
    packages: ClassVar[tuple[str, ...]] = ()
    workloads: ClassVar[tuple[str, ...]] = WORKLOADS
    warm_up: ClassVar[int] = 30  # calls in threads that don't count

    def __init__(self, servers: Servers) -> None:
        self.servers = servers

    @abstractmethod
    def open(self) -> None:
        """Make the store, empty."""

    @abstractmethod
    def close(self) -> None:
        """Remove it."""

    def versions(self) -> dict[str, str]:
        """Of the packages it stands on."""
        return {package: importlib.metadata.version(package) for package in self.packages}

    @abstractmethod
    def new_thread(self) -> Any:
        """An empty conversation."""

    def native(self, call: Call) -> Any:
        """The call as the store's own client has it in hand; made outside the clock."""
        return call

    @abstractmethod
    def append(self, thread: Any, native: Any) -> None:
        """Store one call at the end of the thread; durable when it returns. Raises ``Refused``."""

    @abstractmethod
    def branch(self, thread: Any, place: Any, native: Any) -> None:
        """Store one call after an old one, and make that the end."""

    @abstractmethod
    def place(self, thread: Any) -> Any:
        """The end of the thread."""

    @abstractmethod
    def read(self, thread: Any) -> Sequence[Any]:
        """The path to the end as the store's ready list of messages."""

    def forget(self) -> None:  # noqa: B027 - most stores hold nothing
        """Let go of whatever the process caches, before a read that is timed."""

    @abstractmethod
    def texts(self, read: Sequence[Any]) -> list[str]:
        """The text of each message of what ``read`` gave."""

    def switch(self, thread: Any, place: Any) -> None:
        """Make an old call the end again."""
        raise NotImplementedError

    def siblings(self, thread: Any, place: Any) -> int:
        """How many calls follow an old one, listed as the store lists them."""
        raise NotImplementedError

    can_switch: ClassVar[bool] = True
    can_list_siblings: ClassVar[bool] = True

    def grow(self, thread: Any, native: Any, place: Any = None) -> None:
        """Store a call of W3 at the end, or after ``place``, as the store takes it fastest."""
        if place is None:
            self.append(thread, native)
        else:
            self.branch(thread, place, native)

    def size(self) -> int | None:
        """Bytes at rest on disk; ``None`` when that can't be told while it runs (``size_alone`` then)."""
        return None

    def size_alone(self, attempts: Sequence[Sequence[Sequence[Call]]]) -> int:
        """Bytes that W1 takes in a store of its own."""
        raise NotImplementedError

    @abstractmethod
    def written(self) -> int:
        """Bytes written so far, by the store's log (the database's, or what the process wrote to files)."""

    def writer(self) -> Peer:
        """Another client of the same store, for another thread of the race."""
        raise NotImplementedError

    def seen(self, thread: Any) -> Any:
        """The thread as this client finds it now."""
        raise NotImplementedError

    def kept(self, thread: Any) -> set[str]:
        """All texts on any branch that the store's own interface reaches."""
        raise NotImplementedError


def grow(peer: Peer, thread: Any, attempts: Sequence[Sequence[Sequence[Call]]]) -> None:
    """W1 into a thread, untimed."""
    for turn in attempts:
        before = peer.place(thread)
        for number, attempt in enumerate(turn):
            for call in attempt:
                native = peer.native(call)
                if number and call.first:
                    peer.branch(thread, before, native)
                else:
                    peer.append(thread, native)
