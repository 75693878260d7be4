"""Several writers at once, each a process with a connection and a conversation of its own.

The sides take turns, round by round; a side that waits does nothing.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.timing import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.synchronize import Barrier, Event

PATIENCE = 300.0  # seconds until a round that doesn't end is given up

Opener = Callable[..., tuple[Callable[[], object], Callable[[], object]]]
"""In the writer's process: gives what writes once, and what closes."""


@dataclass(frozen=True)
class Side:
    """One contender: ``opener`` with ``arguments`` is called in every writer's process."""

    name: str
    opener: Opener
    arguments: tuple[Any, ...]


def race(
    group: str, sides: Sequence[Side], writers: int, writes: int, rounds: int, tick: Callable[[], object]
) -> list[Figure]:
    """Rates of all writers of a side together, in writes per second, one for each round.

    A first round of each side warms up and doesn't count.
    """
    rates: dict[str, list[float]] = {side.name: [] for side in sides}
    with ExitStack() as stack:
        running = [(side.name, stack.enter_context(_writers(side, writers, writes))) for side in sides]
        for round in range(rounds + 1):
            for name, run in running if round % 2 == 0 else reversed(running):
                seconds = run()
                if round > 0:
                    rates[name].append(writers * writes / seconds)
                tick()
    return [Figure(group, name, values, "calls/s") for name, values in rates.items()]


@contextmanager
def _writers(side: Side, writers: int, writes: int) -> Iterator[Callable[[], float]]:
    """Start a side's processes; gives what runs one round and returns its seconds."""
    context = multiprocessing.get_context("spawn")
    gate, over = context.Barrier(writers + 1), context.Event()
    started = [
        context.Process(target=_write, args=(side, writes, gate, over), name=f"{side.name}, {number}", daemon=True)
        for number in range(writers)
    ]
    for process in started:
        process.start()

    def run() -> float:
        gate.wait(PATIENCE)
        start = time.perf_counter()
        gate.wait(PATIENCE)
        return time.perf_counter() - start

    try:
        yield run
        over.set()
        gate.wait(PATIENCE)
    except BaseException:
        gate.abort()
        raise
    finally:
        for process in started:
            process.join(PATIENCE)
    failed = [process.name for process in started if process.exitcode != 0]
    if failed:
        raise RuntimeError(f"these writers failed, see above: {', '.join(failed)}")


def _write(side: Side, writes: int, gate: Barrier, over: Event) -> None:
    """A writer: at every opening of the gate so many writes, then the gate again."""
    try:
        write, close = side.opener(*side.arguments)
        while True:
            gate.wait()
            if over.is_set():
                break
            for _ in range(writes):
                write()
            gate.wait()
        close()
    except BaseException:
        gate.abort()
        raise
