"""Times by what was done and by whom, and who has used up his time."""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from benchmarks.timing import Figure

Result = TypeVar("Result")


class Clock:
    """Collects figures. ``budget`` is how many seconds a store may take for one workload."""

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self._values: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._units: dict[tuple[str, str], str] = {}

    def time(self, group: str | None, name: str, work: Callable[[], Result]) -> Result:
        """Do it; without a ``group`` the time doesn't count. The collector of reference cycles is off inside."""
        gc.disable()
        try:
            start = time.perf_counter_ns()
            result = work()
            spent = time.perf_counter_ns() - start
        finally:
            gc.enable()
        if group is not None:
            self._values[group, name].append(spent / 1e6)
        return result

    def add(self, group: str, name: str, value: float, unit: str) -> None:
        """A value that isn't a time."""
        self._values[group, name].append(value)
        self._units[group, name] = unit

    def figures(self) -> list[Figure]:
        """Everything so far."""
        return [
            Figure(group, name, values, self._units.get((group, name), "ms"))
            for (group, name), values in self._values.items()
        ]


class Spending:
    """Seconds that each store has taken for one workload, all repetitions together."""

    def __init__(self, budget: float) -> None:
        self._budget = budget
        self._spent: dict[str, float] = defaultdict(float)

    @contextmanager
    def on(self, name: str) -> Iterator[None]:
        """What happens inside is on the store's account."""
        start = time.monotonic()
        try:
            yield
        finally:
            self._spent[name] += time.monotonic() - start

    def over(self, name: str) -> bool:
        """Whether it has used up its time."""
        return self._spent[name] > self._budget

    def can_repeat(self, name: str, done: int) -> bool:
        """Whether another repetition as long as the ``done`` ones would stay within it."""
        return done == 0 or self._spent[name] * (done + 1) / done <= self._budget
