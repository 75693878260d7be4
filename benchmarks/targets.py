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


@dataclass(frozen=True)
class Rate:
    """A figure, in its own unit, whose median must be at least ``bound``."""

    name: str
    figure: tuple[str, str]
    bound: float

    def judge(self, figures: Sequence[Figure]) -> dict[str, Any]:
        """As a target's, with the figure itself as the ratio."""
        (figure,) = (one for one in figures if (one.group, one.name) == self.figure)
        return {
            "name": self.name,
            "over": " / ".join(self.figure),
            "under": None,
            "ratio": round(figure.median, 4),
            "ratio_of_minima": round(figure.minimum, 4),
            "bound": self.bound,
            "bound_is": "at least",
            "met": figure.median >= self.bound,
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

ONE_WRITER, EIGHT_WRITERS = "one writer", "eight writers"
TURN = "a turn of one call"
RECORDED = "a known call"
POSTGRES_TURN = "PostgreSQL, a turn, two transactions"
POSTGRES_TURN_ONE = "PostgreSQL, a turn, two statements"
POSTGRES_RECORDED = "PostgreSQL, a known call, a transaction"
POSTGRES_RECORDED_ONE = "PostgreSQL, a known call, a statement"

WRITE_TARGETS = (
    Target(
        "one call (pending, complete and move) / PostgreSQL, 1 writer",
        (ONE_WRITER, TURN),
        (ONE_WRITER, POSTGRES_TURN),
        4.5,
    ),
    Target("a known call / PostgreSQL", (ONE_WRITER, RECORDED), (ONE_WRITER, POSTGRES_RECORDED), 3.0),
    Target(
        "calls per second, 8 writers / PostgreSQL",
        (EIGHT_WRITERS, TURN),
        (EIGHT_WRITERS, POSTGRES_TURN),
        0.25,
        at_least=True,
    ),
)

MARKERS = "a path of 1,000 with its markers"
MARKED = "context().body, nothing held, and markers()"
MARKERS_ALONE = "markers()"
POSTGRES_MARKED = "PostgreSQL, rows"
POSTGRES_MARKED_ARRAYS = "PostgreSQL, siblings as arrays"
TAIL = "the last 5 of 10,000 calls"
TAIL_ALONE = "tail().body below a held node"
WHOLE = "context().body, nothing held"
DISK = "200 turns, each regenerated 5 times over one result of 40 KB"
DISK_OURS = "growth of the store"
DISK_POSTGRES = "growth of PostgreSQL's table"
DISK_TEXTS = "the texts, copies included"

BRANCH_TARGETS = (
    Target("markers with context, 1,000 deep / PostgreSQL", (MARKERS, MARKED), (MARKERS, POSTGRES_MARKED), 1.0),
    Target("tail below a held node / the whole, 10,000 deep", (TAIL, TAIL_ALONE), (TAIL, WHOLE), 0.1),
    Target("bytes on disk / PostgreSQL's rows", (DISK, DISK_OURS), (DISK, DISK_POSTGRES), 0.35),
)

DELETION = "a conversation of 100,000 calls"
DELETED = "delete_conversation"

DELETE_TARGETS = (Rate("nodes deleted per second", (DELETION, DELETED), 20_000),)
