"""W1, W2 and W3: grown by all stores in turns, measured at its beginning and its end, and read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.peers import goals, workloads
from benchmarks.peers.clock import Clock, Spending
from benchmarks.peers.graphstore_peer import Graphstore
from benchmarks.peers.peer import Peer
from benchmarks.peers.workloads import Call

EARLY = range(6, 11)  # turns, of W1; of W2 there are as many again, since they have one call each
READS, FORKS, LISTINGS, SWITCHES = 15, 5, 5, 20
LISTING_SECONDS = 3.0  # listing the whole history again and again takes some stores minutes

Tick = Callable[[str], object]


@dataclass(frozen=True)
class Sizes:
    """How much of each workload."""

    turns: int = 200
    line: int = 1000
    nodes: int = 10_671
    branch_points: int = 275
    path: int = 64
    rounds: int = 200
    repetitions: int = 3

    def shrunk(self, shrink: int) -> Sizes:
        """Divided by ``shrink``, as far as the measurements still make sense."""
        if shrink == 1:
            return self
        return Sizes(
            turns=max(self.turns // shrink // 10 * 10, 20),
            line=max(self.line // shrink, 40),
            nodes=max(self.nodes // shrink, 60),
            branch_points=max(self.branch_points // shrink, 5),
            path=max(self.path // shrink, 12),
            rounds=max(self.rounds // shrink, 5),
            repetitions=1,
        )

    def ticks(self, peers: int) -> int:
        """How often ``tick`` is called at most."""
        grown = self.repetitions * (self.turns + self.line) + self.nodes
        return peers * (grown + self.rounds + 1)


class Misread(Exception):
    """A store gave back another path than was written."""


class Growing:
    """The workloads on some stores. ``notes`` tells of what went other than planned, by store."""

    def __init__(self, peers: Sequence[Peer], clock: Clock, sizes: Sizes, tick: Tick) -> None:
        self._peers = peers
        self._clock = clock
        self._sizes = sizes
        self._tick = tick
        self.notes: dict[str, list[str]] = {}

    def _note(self, peer: Peer, what: str) -> None:
        self.notes.setdefault(peer.name, []).append(what)

    def _of(self, workload: str) -> list[Peer]:
        return [peer for peer in self._peers if workload in peer.workloads]

    def _in_turns(self, peers: Sequence[Peer], number: int) -> list[Peer]:
        """All of them, another one first each time."""
        shift = number % len(peers) if peers else 0
        return [*peers[shift:], *peers[:shift]]

    def _check(self, peer: Peer, thread: Any, calls: Sequence[Call], workload: str) -> None:
        """What is read is what was written, message by message."""
        read, written = peer.texts(peer.read(thread)), workloads.texts(calls)
        if read != written:
            same = sum(one == other for one, other in zip(read, written, strict=False))
            raise Misread(f"{workload}: {peer.name} gave {len(read)} messages for {len(written)}, {same} as written")

    # W1

    def turns_with_tools(self) -> None:
        """W1."""
        turns = workloads.turns(self._sizes.turns)
        spending = Spending(self._clock.budget)
        for repetition in range(self._sizes.repetitions):
            again = [peer for peer in self._of("W1") if spending.can_repeat(peer.name, repetition)]
            before = {peer.name: None if repetition else peer.size() for peer in again}
            threads = self._grow_turns(again, turns, spending)
            whole = [peer for peer in again if peer.name in threads]
            active = [call for attempts in turns for call in attempts[-1]]
            for peer in whole:
                self._check(peer, threads[peer.name], active, "W1")
                size = before[peer.name]
                if size is not None:
                    after = peer.size()
                    assert after is not None
                    self._clock.add(goals.W1_DISK, peer.name, after - size, "bytes")
            self._reads(goals.W1_READ, whole, threads)
            if repetition == 0:
                self._siblings(goals.W1_SIBLINGS, whole, self._last, threads, len(turns[-1]))
        for peer in self._of("W1"):
            if peer.name == goals.OURS:
                self._clock.add(goals.W1_DISK, peer.name, peer.size_alone(turns), "bytes")

    def _grow_turns(
        self, peers: Sequence[Peer], turns: Sequence[Sequence[Sequence[Call]]], spending: Spending
    ) -> dict[str, Any]:
        """A thread a store, for those that came to the end within their time."""
        threads = {peer.name: peer.new_thread() for peer in peers}
        self._last: dict[str, Any] = {}
        late = range(len(turns) - 4, len(turns) + 1)
        for number, attempts in enumerate(turns, 1):
            group = goals.W1_EARLY if number in EARLY else goals.W1_LATE if number in late else None
            branch = goals.W1_REGENERATE if number == len(turns) else None
            for peer in self._in_turns([peer for peer in peers if peer.name in threads], number):
                self._tick(f"W1, {peer.name}")
                thread = threads[peer.name]
                with spending.on(peer.name):
                    self._last[peer.name] = before = peer.place(thread)
                    for attempt, calls in enumerate(attempts):
                        for call in calls:
                            self._one(peer, thread, call, before if attempt and call.first else None, group, branch)
                if spending.over(peer.name) and number < len(turns):
                    self._note(peer, f"W1 stopped at turn {number} of {len(turns)} (time)")
                    del threads[peer.name]
        return threads

    def _one(self, peer: Peer, thread: Any, call: Call, place: Any, group: str | None, branch: str | None) -> None:
        native = peer.native(call)
        if place is not None:
            self._clock.time(branch, peer.name, lambda: peer.branch(thread, place, native))
        else:
            self._clock.time(group, peer.name, lambda: peer.append(thread, native))

    # W2

    def long_line(self) -> None:
        """W2."""
        calls = workloads.line(self._sizes.line)
        spending = Spending(self._clock.budget)
        for repetition in range(self._sizes.repetitions):
            again = [peer for peer in self._of("W2") if spending.can_repeat(peer.name, repetition)]
            threads, places = self._grow_line(again, calls, spending)
            whole = [peer for peer in again if peer.name in threads]
            for peer in whole:
                self._check(peer, threads[peer.name], calls, "W2")
            self._reads(goals.W2_READ, whole, threads)
            self._forks(whole, threads, places, seed=10 + repetition)

    def _grow_line(
        self, peers: Sequence[Peer], calls: Sequence[Call], spending: Spending
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The threads, and the place in each ten turns above its end."""
        threads = {peer.name: peer.new_thread() for peer in peers}
        places: dict[str, Any] = {}
        early = range(EARLY.start, EARLY.stop + 5)
        late = range(len(calls) - 9, len(calls) + 1)
        for number, call in enumerate(calls, 1):
            group = goals.W2_EARLY if number in early else goals.W2_LATE if number in late else None
            for peer in self._in_turns([peer for peer in peers if peer.name in threads], number):
                self._tick(f"W2, {peer.name}")
                with spending.on(peer.name):
                    self._one(peer, threads[peer.name], call, None, group, None)
                if number == len(calls) - 10:
                    places[peer.name] = peer.place(threads[peer.name])
                if spending.over(peer.name) and number < len(calls):
                    self._note(peer, f"W2 stopped at turn {number} of {len(calls)} (time)")
                    del threads[peer.name]
        return threads, places

    def _forks(self, peers: Sequence[Peer], threads: dict[str, Any], places: dict[str, Any], seed: int) -> None:
        extra = workloads.line(FORKS, seed)
        above = workloads.line(self._sizes.line)[: self._sizes.line - 10]
        for number, call in enumerate(extra):
            for peer in self._in_turns(peers, number):
                thread, native = threads[peer.name], peer.native(call)
                place = places[peer.name]
                before = peer.written()
                self._clock.time(
                    goals.W2_FORK, peer.name, lambda p=peer, t=thread, at=place, n=native: p.branch(t, at, n)
                )
                self._clock.add(goals.W2_FORK_WRITTEN, peer.name, peer.written() - before, "bytes")
                self._check(peer, thread, [*above, call], "W2, forked")

    # W3

    def wide_tree(self) -> None:
        """W3."""
        sizes = self._sizes
        tree = workloads.tree(sizes.nodes, sizes.branch_points, sizes.path)
        spending = Spending(self._clock.budget)
        threads = {peer.name: peer.new_thread() for peer in self._of("W3")}
        places: dict[str, dict[int, Any]] = {name: {} for name in threads}
        branched = tree.branch_point
        needed = {tree.nodes[line[0]][0] for line in tree.lines[1:]} | {line[-1] for line in tree.lines}
        for number, line in enumerate(tree.lines):
            for peer in self._in_turns([one for one in self._of("W3") if one.name in threads], number):
                with spending.on(peer.name):
                    self._grow_run(peer, threads[peer.name], tree, line, places[peer.name], needed)
                if spending.over(peer.name) and number + 1 < len(tree.lines):
                    self._note(peer, f"W3 stopped at {sum(map(len, tree.lines[: number + 1])):,} nodes (time)")
                    del threads[peer.name]
        whole = [peer for peer in self._of("W3") if peer.name in threads]
        active, other = tree.lines[0][-1], tree.lines[1][-1]
        self._switch(whole, threads, places, active, other)
        for peer in whole:
            self._check(peer, threads[peer.name], [tree.nodes[node][1] for node in tree.lines[0]], "W3")
        self._reads(goals.W3_READ, whole, threads)
        at = {peer.name: places[peer.name][branched] for peer in whole}
        self._siblings(goals.W3_SIBLINGS, whole, at, threads, 2)

    def _grow_run(
        self,
        peer: Peer,
        thread: Any,
        tree: workloads.Tree,
        line: Sequence[int],
        places: dict[int, Any],
        needed: set[int | None],
    ) -> None:
        for node in line:
            parent, call = tree.nodes[node]
            place = places[parent] if node == line[0] and parent is not None else None
            peer.grow(thread, peer.native(call), place)
            self._tick(f"W3, {peer.name}")
            if node in needed:
                places[node] = peer.place(thread)

    def _switch(
        self,
        peers: Sequence[Peer],
        threads: dict[str, Any],
        places: dict[str, dict[int, Any]],
        active: int,
        other: int,
    ) -> None:
        """To and fro; at last to the active path."""
        for number in range(SWITCHES):
            for peer in self._in_turns(peers, number):
                thread, place = threads[peer.name], places[peer.name][active if number % 2 else other]
                group = goals.W3_SWITCH if peer.can_switch else None
                self._clock.time(group, peer.name, lambda p=peer, t=thread, at=place: p.switch(t, at))

    # Shared

    def _reads(self, group: str, peers: Sequence[Peer], threads: dict[str, Any]) -> None:
        for number in range(READS):
            for peer in self._in_turns(peers, number):
                thread = threads[peer.name]
                peer.forget()
                self._clock.time(group, peer.name, lambda p=peer, t=thread: p.read(t))
                if isinstance(peer, Graphstore) and peer.name == goals.OURS and group == goals.W1_READ:
                    self._next_reads(peer, thread)

    def _next_reads(self, peer: Graphstore, thread: Any) -> None:
        """What the next call reads when the process holds the path up to the last turn."""
        store, id = peer.store, thread.id
        for name, read in (
            (goals.NEXT, lambda: store.context(id)),
            (goals.NEXT_BODY, lambda: store.context(id).body),
            (goals.NEXT_ITEMS, lambda: store.context(id).items),
        ):
            peer.hold_before_last_turn(thread)
            made = self._clock.time(goals.W1_READ, name, read)
            del made

    def _siblings(
        self, group: str, peers: Sequence[Peer], at: dict[str, Any], threads: dict[str, Any], expected: int
    ) -> None:
        for peer in peers:
            if not peer.can_list_siblings:
                continue
            spending = Spending(LISTING_SECONDS)
            for _ in range(LISTINGS):
                thread, place = threads[peer.name], at[peer.name]
                with spending.on(peer.name):
                    count = self._clock.time(group, peer.name, lambda p=peer, t=thread, a=place: p.siblings(t, a))
                if count != expected:
                    raise Misread(f"{group}: {peer.name} has {count} siblings where {expected} were written")
                if spending.over(peer.name):
                    break
