"""What graphstore has to reach beside the others, in one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.targets import Target
from benchmarks.timing import Figure

OURS = "graphstore, recorded"
PLAIN = "plain PostgreSQL"
SAVERS = (
    "LangGraph, SQLite",
    "LangGraph, SQLite, delta",
    "LangGraph, PostgreSQL",
    "LangGraph, PostgreSQL, delta",
)

W1_EARLY, W1_LATE = "W1: append of a call, at turn 10", "W1: append of a call, at the last turn (200)"
W2_EARLY, W2_LATE = "W2: append of a call, at turn 10", "W2: append of a call, at the last turn (1,000)"
W1_REGENERATE = "W1: first call of a regeneration, at the last turn (200)"
W1_READ = "W1: read of the path as a list (400 calls)"
NEXT = "graphstore, next context, all but the last turn held"
NEXT_BODY = "graphstore, next context().body, the same held"
NEXT_ITEMS = "graphstore, next context().items, the same held"
W1_SIBLINGS = "W1: siblings of the last turn (6)"
W1_DISK = "W1: bytes on disk"
W2_READ = "W2: read of the path as a list (1,000 calls)"
W2_FORK, W2_FORK_WRITTEN = "W2: fork ten turns above the end, with a call", "W2: bytes written by such a fork"
W3_READ = "W3: read of the active path as a list (64 calls)"
W3_SIBLINGS = "W3: siblings at a branch point"
W3_SWITCH = "W3: switch to another branch"
RACE_LOST, RACE_SILENT = "race of 200 rounds: accepted and lost", "race of 200 rounds: silently forked"
RACE_IN_LINE = "race of 200 rounds: both accepted, in one line"
RACE_TOLD, RACE_KEPT = "race of 200 rounds: losers told", "race of 200 rounds: losers told and kept"
RACE_ROUND = "race: one round"


@dataclass(frozen=True)
class AtMost:
    """A figure, in its own unit, whose median must be at most ``bound``."""

    name: str
    figure: tuple[str, str]
    bound: float

    def judge(self, figures: Sequence[Figure]) -> dict[str, Any]:
        """As a target's, with the figure itself as the ratio."""
        found = next((one for one in figures if (one.group, one.name) == self.figure), None)
        return {
            "name": self.name,
            "over": " / ".join(self.figure),
            "under": None,
            "ratio": None if found is None else round(found.median, 4),
            "ratio_of_minima": None if found is None else round(found.minimum, 4),
            "bound": self.bound,
            "bound_is": "at most",
            "met": None if found is None else found.median <= self.bound,
            "needs": "--peers with graphstore",
        }


@dataclass(frozen=True)
class AllLosers:
    """In every round of the race one call was refused, and its refusal told and kept."""

    name: str

    def judge(self, figures: Sequence[Figure]) -> dict[str, Any]:
        """The share of rounds whose loser was told and kept."""
        counts = {(one.group, one.name): one.median for one in figures}
        rounds = next((len(one.values) for one in figures if (one.group, one.name) == (RACE_ROUND, OURS)), None)
        kept = counts.get((RACE_KEPT, OURS))
        ratio = None if rounds is None or kept is None else kept / rounds
        return {
            "name": self.name,
            "over": f"{RACE_KEPT} / {OURS}",
            "under": None,
            "ratio": ratio,
            "ratio_of_minima": ratio,
            "bound": 1.0,
            "bound_is": "at least",
            "met": None if ratio is None else ratio == 1.0,
            "needs": "--peers with graphstore",
        }


_PEERS = "the extra 'peers'"

PEER_TARGETS = (
    Target("append, turn 200 / turn 10, W1", (W1_LATE, OURS), (W1_EARLY, OURS), 1.2),
    Target("append, turn 1,000 / turn 10, W2", (W2_LATE, OURS), (W2_EARLY, OURS), 1.2),
    Target("append at turn 200 / plain PostgreSQL, W1", (W1_LATE, OURS), (W1_LATE, PLAIN), 6.0),
    Target("append at turn 1,000 / plain PostgreSQL, W2", (W2_LATE, OURS), (W2_LATE, PLAIN), 6.0),
    *(
        Target(f"append at turn {turn} / {saver}, {workload}", (late, OURS), (late, saver), 1.0, needs=_PEERS)
        for workload, turn, late in (("W1", "200", W1_LATE), ("W2", "1,000", W2_LATE))
        for saver in SAVERS
    ),
    Target("read of 400 calls as a list, nothing held / plain PostgreSQL", (W1_READ, OURS), (W1_READ, PLAIN), 0.7),
    Target("next context, last turn not held / plain PostgreSQL's read", (W1_READ, NEXT), (W1_READ, PLAIN), 0.15),
    Target("the same as a list / plain PostgreSQL's read", (W1_READ, NEXT_ITEMS), (W1_READ, PLAIN), 0.15),
    AtMost("fork at turn 990 with a call of 2 KB: bytes written", (W2_FORK_WRITTEN, OURS), 10_000),
    Target("bytes on disk after W1 / plain PostgreSQL", (W1_DISK, OURS), (W1_DISK, PLAIN), 0.7),
    AtMost("race: calls accepted and lost", (RACE_LOST, OURS), 0),
    AtMost("race: calls silently forked", (RACE_SILENT, OURS), 0),
    AllLosers("race: losers told and kept, a round"),
    AtMost("W3: siblings, ms", (W3_SIBLINGS, OURS), 5),
    AtMost("W3: switch, ms", (W3_SWITCH, OURS), 5),
    AtMost("W3: context of the active path as a list, nothing held, ms", (W3_READ, OURS), 5),
)
