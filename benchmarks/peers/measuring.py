"""Opening the stores, warming them up, and running the workloads on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from benchmarks.peers import racing, workloads
from benchmarks.peers.clock import Clock
from benchmarks.peers.growing import Growing, Sizes
from benchmarks.peers.peer import Peer, Servers
from benchmarks.timing import Figure

WARM_THREAD = 20  # calls


@dataclass(frozen=True)
class Measured:
    """What a run found; ``notes`` tells what went other than planned, by store."""

    figures: list[Figure]
    versions: dict[str, str]
    notes: dict[str, list[str]]


def measure(
    classes: Sequence[type[Peer]], servers: Servers, sizes: Sizes, budget: float, tick: Callable[[str], object]
) -> Measured:
    """All workloads on all stores; ``budget`` is seconds for a store and a workload."""
    clock = Clock(budget)
    with ExitStack() as stack:
        peers = [made(servers) for made in classes]
        versions: dict[str, str] = {}
        for peer in peers:
            stack.callback(peer.close)
            peer.open()
            versions |= peer.versions()
            tick(f"warming up {peer.name}")
            warm(peer)
        growing = Growing(peers, clock, sizes, tick)
        growing.turns_with_tools()
        growing.long_line()
        growing.wide_tree()
        for peer in peers:
            if "race" in peer.workloads:
                done = racing.race(peer, clock, sizes.rounds, tick)
                if done < sizes.rounds:
                    growing.notes.setdefault(peer.name, []).append(f"race stopped after {done} rounds (time)")
    return Measured(clock.figures(), versions, growing.notes)


def warm(peer: Peer) -> None:
    """Short conversations that don't count: code paths, caches of plans and a just-in-time compiler get warm."""
    calls = workloads.line(peer.warm_up, seed=99)
    for start in range(0, len(calls), WARM_THREAD):
        thread, places = peer.new_thread(), []
        for call in calls[start : start + WARM_THREAD]:
            peer.append(thread, peer.native(call))
            peer.read(thread)
            places.append(peer.place(thread))
        peer.branch(thread, places[0], peer.native(calls[start]))
        peer.forget()
        peer.read(thread)
