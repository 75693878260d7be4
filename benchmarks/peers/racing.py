"""Two clients of one store put a call after the same one at the same moment, round after round."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.peers import goals, workloads
from benchmarks.peers.clock import Clock
from benchmarks.peers.peer import Peer
from benchmarks.peers.workloads import Call

ROUND_SECONDS = 60


class Racer(threading.Thread):
    """One client. Each round it looks where the thread ends, waits for the other, and writes."""

    def __init__(self, peer: Peer, thread: Any, calls: Sequence[Call], barrier: threading.Barrier) -> None:
        super().__init__(daemon=True)
        self._peer, self._thread, self._calls, self._barrier = peer, thread, calls, barrier
        self.refused: list[bool] = []
        self.failed: BaseException | None = None

    def run(self) -> None:
        try:
            self._race()
        except threading.BrokenBarrierError:
            return
        except BaseException as error:  # noqa: BLE001 - told by the thread that waits for this one
            self.failed = error
            self._barrier.abort()

    def _race(self) -> None:
        client = self._peer.writer()
        try:
            for call in self._calls:
                seen, native = client.seen(self._thread), client.native(call)
                self._barrier.wait(ROUND_SECONDS)
                try:
                    client.append(seen, native)
                    refused = False
                except Exception:  # noqa: BLE001 - whatever a store raises, its client was told
                    refused = True
                self.refused.append(refused)
                self._barrier.wait(ROUND_SECONDS)
                self._barrier.wait(ROUND_SECONDS)  # until it is known whether there is another round
        finally:
            client.close()


def race(peer: Peer, clock: Clock, rounds: int, tick: Callable[[str], object]) -> int:
    """Race, and count what became of each call; returns how many rounds the time was enough for."""
    calls = workloads.line(2 * rounds + 1, seed=5)
    thread = peer.new_thread()
    peer.append(thread, peer.native(calls[-1]))
    barrier = threading.Barrier(3)
    racers = [Racer(peer, thread, calls[start : 2 * rounds : 2], barrier) for start in (0, 1)]
    for racer in racers:
        racer.start()
    deadline = time.monotonic() + clock.budget
    done = 0
    try:
        while True:
            barrier.wait(ROUND_SECONDS)
            clock.time(goals.RACE_ROUND, peer.name, lambda: barrier.wait(ROUND_SECONDS))
            tick(f"race, {peer.name}")
            done += 1
            if done == rounds or time.monotonic() > deadline:
                break
            barrier.wait(ROUND_SECONDS)
    except threading.BrokenBarrierError:
        for racer in racers:
            if racer.failed is not None:
                raise racer.failed from None
        raise
    finally:
        barrier.abort()
        for racer in racers:
            racer.join(ROUND_SECONDS)
    _count(peer, thread, clock, [racer.refused[:done] for racer in racers], calls)
    return done


def _count(peer: Peer, thread: Any, clock: Clock, refused: list[list[bool]], calls: Sequence[Call]) -> None:
    seen = peer.seen(thread)
    head, kept = set(peer.texts(peer.read(seen))), peer.kept(thread)
    counts = dict.fromkeys(
        (goals.RACE_LOST, goals.RACE_SILENT, goals.RACE_IN_LINE, goals.RACE_TOLD, goals.RACE_KEPT), 0
    )
    for number, told in enumerate(zip(*refused, strict=True)):
        texts = [workloads.texts([calls[2 * number + side]]) for side in (0, 1)]
        in_line = True
        for was_told, own in zip(told, texts, strict=True):
            stays, on_head = kept.issuperset(own), head.issuperset(own)
            in_line = in_line and not was_told and on_head
            counts[goals.RACE_TOLD] += was_told
            counts[goals.RACE_KEPT] += was_told and stays
            counts[goals.RACE_LOST] += not was_told and not stays
            counts[goals.RACE_SILENT] += not was_told and stays and not on_head
        counts[goals.RACE_IN_LINE] += in_line
    for group, count in counts.items():
        clock.add(group, peer.name, count, "calls" if group != goals.RACE_IN_LINE else "rounds")
