"""What has to be reached: ratios of medians within one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import Figure


@dataclass(frozen=True)
class Target:
    """``over`` divided by ``under``, each named by group and contender, must be at most (or at least) ``bound``.

    ``needs`` is the option without which it isn't measured.
    """

    name: str
    over: tuple[str, str]
    under: tuple[str, str]
    bound: float
    at_least: bool = False
    needs: str | None = None

    def judge(self, figures: Sequence[Figure]) -> dict[str, Any]:
        """The ratio and whether it is met; both ``None`` when something it needs was not measured."""
        medians = {(figure.group, figure.name): figure.median for figure in figures}
        minima = {(figure.group, figure.name): figure.minimum for figure in figures}
        over, under = medians.get(self.over), medians.get(self.under)
        ratio = over / under if over is not None and under else None
        met = None
        if ratio is not None:
            met = ratio >= self.bound if self.at_least else ratio <= self.bound
        return {
            "name": self.name,
            "over": " / ".join(self.over),
            "under": " / ".join(self.under),
            "ratio": None if ratio is None else round(ratio, 4),
            "ratio_of_minima": None if ratio is None else round(minima[self.over] / minima[self.under], 4),
            "bound": self.bound,
            "bound_is": "at least" if self.at_least else "at most",
            "met": met,
            "needs": self.needs,
        }


@dataclass(frozen=True)
class Count:
    """A number that was counted, not timed, and must be at most ``bound``."""

    name: str
    value: int
    bound: int

    def judge(self) -> dict[str, Any]:
        """As a target's, with the number itself as the ratio."""
        return {
            "name": self.name,
            "over": None,
            "under": None,
            "ratio": self.value,
            "ratio_of_minima": self.value,
            "bound": self.bound,
            "bound_is": "at most",
            "met": self.value <= self.bound,
            "needs": None,
        }


BARE = "bare assembly query"
BODY = "context().body, nothing held"
ITEMS = "context().items, nothing held"
NEXT = "next context, parent held"
NEXT_BODY = "next context().body, parent held"
NEXT_ITEMS = "next context().items, parent held"
FLOOR = "one property, climbed (floor)"
POSTGRES = "PostgreSQL, rows"
POSTGRES_PLAIN = "PostgreSQL, rows, uncompressed"
POSTGRES_ITEMS = "PostgreSQL, parsed and paired"

SMALL_STORE, LARGE_STORE = "1,000 x 2 KB in a store of 10,000", "1,000 x 2 KB in a store of 1,000,000"
EDITS = "edit and its pending call"
IMPORT = "import"

ASSEMBLY_TARGETS = (
    Target("bare query / PostgreSQL, 100 x 2 KB", ("100 x 2 KB", BARE), ("100 x 2 KB", POSTGRES), 2.5),
    Target("bare query / PostgreSQL, 1,000 x 2 KB", ("1,000 x 2 KB", BARE), ("1,000 x 2 KB", POSTGRES), 0.9),
    Target("bare query / PostgreSQL, 10,000 x 0.5 KB", ("10,000 x 0.5 KB", BARE), ("10,000 x 0.5 KB", POSTGRES), 0.85),
    Target("next context, parent held / PostgreSQL, 100 x 2 KB", ("100 x 2 KB", NEXT), ("100 x 2 KB", POSTGRES), 1.0),
    Target(
        "next context, parent held / PostgreSQL, 1,000 x 2 KB", ("1,000 x 2 KB", NEXT), ("1,000 x 2 KB", POSTGRES), 0.15
    ),
    Target("context().body / bare query, 1,000 x 2 KB", ("1,000 x 2 KB", BODY), ("1,000 x 2 KB", BARE), 1.3),
    Target(
        "context().items / PostgreSQL doing the same work, 1,000 x 2 KB",
        ("1,000 x 2 KB", ITEMS),
        ("1,000 x 2 KB", POSTGRES_ITEMS),
        1.0,
    ),
    Target(
        "store of 1,000,000 / store of 10,000, bare query",
        (LARGE_STORE, BARE),
        (SMALL_STORE, BARE),
        1.2,
        needs="--million",
    ),
    Target("edit of the last question, 1,000 turns / 10 turns", (EDITS, "last of 1,000"), (EDITS, "last of 10"), 1.3),
    Target(
        "edit of the first question, 1,000 turns / 10 turns", (EDITS, "first of 1,000"), (EDITS, "first of 10"), 1.3
    ),
)

IMPORT_TARGETS = (
    Target(
        "import / bare UNWIND of the same rows",
        (IMPORT, "import_file"),
        (IMPORT, "bare UNWIND"),
        0.5,
        at_least=True,
    ),
)
