"""Timing that a busy machine can't bend: contenders take turns, call by call, and are compared within one run."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Contender:
    """Something to time. ``prepare`` runs before each timed call, ``restore`` after it, both outside the clock."""

    name: str
    run: Callable[[], object]
    prepare: Callable[[], object] | None = None
    restore: Callable[[], object] | None = None


@dataclass(frozen=True)
class Figure:
    """The times of one contender, in milliseconds (or values per second, by ``unit``)."""

    group: str
    name: str
    values: list[float] = field(repr=False)
    unit: str = "ms"

    @property
    def minimum(self) -> float:
        return min(self.values)

    @property
    def median(self) -> float:
        return statistics.median(self.values)


def interleave(
    group: str,
    contenders: Sequence[Contender],
    *,
    repetitions: int,
    warm_up: int,
    tick: Callable[[], object] = lambda: None,
) -> list[Figure]:
    """Time each contender ``repetitions`` times, after ``warm_up`` rounds that don't count.

    Every round times each once, each round beginning with another, so that nobody always follows the same one.
    The collector of reference cycles is off inside the clock, as in ``timeit``.
    """
    values: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    enabled = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        for round in range(warm_up + repetitions):
            shift = round % len(contenders)
            for contender in [*contenders[shift:], *contenders[:shift]]:
                if contender.prepare is not None:
                    contender.prepare()
                start = time.perf_counter_ns()
                result = contender.run()
                spent = time.perf_counter_ns() - start
                del result
                if contender.restore is not None:
                    contender.restore()
                if round >= warm_up:
                    values[contender.name].append(spent / 1e6)
            if round % 20 == 19:
                gc.collect()
            tick()
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()
    return [Figure(group, name, times) for name, times in values.items()]
