"""Which answers of an accepted path a model may be trained on (rule N8). Pure.

Every node of the path is a candidate; ``decide`` names the first reason against it. What was said in a node that is not
trained on still stands in what the later ones were sent.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from graphstore.analytics.preferences import Reply, unusable


class Untrained(StrEnum):
    """Why a node of an accepted path is trained on in no row, in the order in which the reasons are looked for."""

    CONVERSION = "conversion"
    COMPACTION = "compaction"
    PENDING = "pending"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TRUNCATED = "truncated"
    MODERATED = "moderated"
    DISLIKED = "disliked"
    GUESSED_CURSOR = "guessed_cursor"
    # From here on what else was exported decides, the texts, and what a format can say.
    TRAINED_ELSEWHERE = "trained_elsewhere"
    GONE_MEANWHILE = "gone_meanwhile"
    CONTEXT_NOT_REPRODUCED = "context_not_reproduced"
    NOT_EXPRESSIBLE = "not_expressible"
    PROMPT_END = "prompt_end"
    INSIDE_A_TURN = "inside_a_turn"
    EMPTY = "empty"
    DUPLICATE = "duplicate"


DOUBTS = frozenset({Untrained.DISLIKED, Untrained.GUESSED_CURSOR})
"""What may be let through by ``include``."""


@dataclass(frozen=True, slots=True)
class Step:
    """One node of an accepted path, at ``place`` (0: the root). ``rated``: ups minus downs of its feedback.

    ``turns_after`` counts the turns of the path that follow it.
    """

    place: int
    reply: Reply
    rated: int
    turns_after: int


@dataclass(frozen=True, slots=True)
class Line:
    """A conversation's accepted path. ``fork_place``: the first place where it has a live sibling of its own."""

    conversation_id: str
    source: str | None
    guessed: bool
    fork_place: int | None
    steps: tuple[Step, ...]


def decide(line: Line, step: Step, include: Collection[str] = ()) -> Untrained | None:
    """The reason why a step is no answer to train on, without looking at its text; ``None`` if it is one."""
    reply = step.reply
    guessed = line.guessed and line.fork_place is not None and step.place >= line.fork_place
    found = {
        Untrained.CONVERSION: reply.kind == "conversion",
        Untrained.COMPACTION: reply.kind == "compaction",
        **{Untrained(word): True for word in unusable(reply)},
        Untrained.DISLIKED: step.rated < 0,
        Untrained.GUESSED_CURSOR: guessed,
    }
    return next((reason for reason in Untrained if found.get(reason) and reason not in include), None)
