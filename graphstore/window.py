"""A context limited to its newest turns, or to a number of tokens (rule W5). Pure.

A window begins where a turn does, or at a compaction, and never between a tool call and its result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphstore import items
from graphstore.errors import InvalidInput
from graphstore.pairing import EMPTY, call_ids, result_ids
from graphstore.segments import EMPTY_ARRAY, PathFacts, Segment

Tokenizer = Callable[[str], int]
BYTES_PER_TOKEN = 4
"""What a token is taken for where no tokenizer counts: usual for English."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a context may have: at most so many newest turns, at most so many tokens.

    Tokens are those of prompt, tools, items and the call's new items: bytes ÷ 4 unless ``count_tokens`` counts a text.
    """

    newest_turns: int | None = None
    max_tokens: int | None = None
    count_tokens: Tokenizer | None = None

    def __post_init__(self) -> None:
        for name, value in (("newest_turns", self.newest_turns), ("max_tokens", self.max_tokens)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InvalidInput(f"{name} is a number of at least 1, not {value!r:.60}")
        if self.count_tokens is not None and not callable(self.count_tokens):
            raise InvalidInput("count_tokens is a function that gives the number of tokens of a text")

    @property
    def given(self) -> bool:
        """Whether there is any limit."""
        return self.newest_turns is not None or self.max_tokens is not None


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of a path a context has: from ``first_node_id`` on, ``left_out`` nodes above it not.

    ``notes`` say where the window had to be another than was asked.
    """

    first_node_id: str | None
    left_out: int
    notes: tuple[str, ...] = ()


def window(
    line: Sequence[Segment], turns: Mapping[str, tuple[str, bool]], limits: Limits, beside: str, running: bool = False
) -> Window:
    """The window of a path under some limits.

    ``turns`` tells of each node its turn and whether it is a compaction, ``beside`` is the text of what is sent with
    the path, ``running`` whether the path's last turn is the one that asks, and so comes beside the newest ones.
    Raises ``InvalidInput`` when even the newest turn has more tokens than it may.
    """
    weigh = _Scale(limits.count_tokens)
    room = None if limits.max_tokens is None else weigh.room(limits.max_tokens) - weigh.of(beside)
    if not line:
        if room is not None and room < 0:
            raise InvalidInput(
                f"what is sent needs about {weigh.tokens(weigh.of(beside))} tokens without any turn before it, and "
                f"max_tokens is {limits.max_tokens}; allow more, or send less"
            )
        return Window(None, 0)
    starts = _starts(line, turns)
    uncut = _uncut(line)
    asked = 0
    if limits.newest_turns is not None:
        wanted = limits.newest_turns + (1 if running else 0)
        own = [place for place in starts if place or not _stands_alone(line, turns)]
        asked = own[-wanted] if len(own) > wanted else own[0] if len(own) == wanted else 0
    first = max(place for place in starts if place <= asked and uncut[place])
    notes: list[str] = []
    if first < asked:
        notes.append(
            f"more than the newest {limits.newest_turns} turns are kept, from node {line[first].node_id!r} on: it made "
            "a tool call whose result a later turn sends"
        )
    if room is None:
        return Window(line[first].node_id, first, tuple(notes))
    below = _suffix_sums([weigh.of(",".join(segment.texts)) for segment in line])
    fitting = [place for place in starts if place >= first and uncut[place] and below[place] <= room]
    if not fitting:
        fitting = [place for place in range(starts[-1] + 1, len(line)) if uncut[place] and below[place] <= room]
        if not fitting:
            least = max(place for place in starts if uncut[place])
            raise InvalidInput(
                f"the newest turn needs about {weigh.tokens(below[least] + weigh.of(beside))} tokens with what is sent "
                f"beside it, and max_tokens is {limits.max_tokens}; allow more, or compact the conversation"
            )
        notes = [
            f"the context begins in the middle of a turn, at node {line[fitting[0]].node_id!r}: the whole turn has "
            f"more tokens than max_tokens={limits.max_tokens}"
        ]
    if fitting[0] > first and fitting[0] in starts:
        notes = []
    return Window(line[fitting[0]].node_id, fitting[0], tuple(notes))


def narrowed(line: Sequence[Segment], start: int) -> Segment:
    """The path from a place on as a chain of its own."""
    if start == 0:
        return line[-1]
    whole = line[-1].facts
    unsettled = whole.unsettled.intersection(segment.node_id for segment in line[start:])
    pairing, made = EMPTY, None
    facts = PathFacts(pairing, whole.owners, unsettled, whole.exact)
    for segment in line[start:]:
        after = pairing.after(*_ids(segment))
        if after is not pairing:
            pairing, facts = after, PathFacts(after, whole.owners, unsettled, whole.exact)
        texts = [f"[{text}]" for text in segment.texts]
        sent, returned = (*texts, EMPTY_ARRAY, EMPTY_ARRAY)[:2]
        made = Segment(made, segment.node_id, sent, returned, facts)
    assert made is not None
    return made


def _stands_alone(line: Sequence[Segment], turns: Mapping[str, tuple[str, bool]]) -> bool:
    """Whether the path begins with a compaction that is no part of the turn after it."""
    turn, compaction = turns[line[0].node_id]
    return compaction and (len(line) == 1 or turns[line[1].node_id][0] != turn)


def _starts(line: Sequence[Segment], turns: Mapping[str, tuple[str, bool]]) -> list[int]:
    """Where turns begin, the top of the path among them; a compaction further down was unfolded and begins nothing."""
    starts = [0]
    turn = turns[line[0].node_id][0]
    for place in range(1, len(line)):
        next_turn, compaction = turns[line[place].node_id]
        if not compaction and next_turn != turn:
            starts.append(place)
            turn = next_turn
    return starts


def _uncut(line: Sequence[Segment]) -> list[bool]:
    """For each place whether a window that begins there has the call of every result that has one on the path."""
    wanting: Counter[str] = Counter()  # results that find no call between here and them
    out = [True] * len(line)
    for place in range(len(line) - 1, -1, -1):
        results, calls = _ids(line[place])
        for call_id in calls:
            if wanting[call_id]:
                wanting[call_id] -= 1
        wanting.update(results)
        above = line[place].parent
        out[place] = above is None or not any(wanting[call_id] > 0 for call_id in above.facts.pairing.open)
    return out


def _ids(segment: Segment) -> tuple[list[str], list[str]]:
    """The ids of the results and the calls of one node. Nodes without any share the facts of the path above them."""
    above = segment.parent
    if above is not None and above.facts is segment.facts:
        return [], []
    listed: list[dict[str, Any]] = [
        item for text in segment.texts for item in items.decode(f"[{text}]", exact=segment.facts.exact)
    ]
    return result_ids(listed), call_ids(listed)


def _suffix_sums(weights: list[int]) -> list[int]:
    total = 0
    for place in range(len(weights) - 1, -1, -1):
        total += weights[place]
        weights[place] = total
    return weights


class _Scale:
    """Weighs texts: in tokens if they can be counted, else in bytes."""

    def __init__(self, count_tokens: Tokenizer | None) -> None:
        self._count = count_tokens

    def of(self, text: str) -> int:
        if not text:
            return 0
        return len(text.encode()) if self._count is None else self._count(text)

    def room(self, tokens: int) -> int:
        return tokens * BYTES_PER_TOKEN if self._count is None else tokens

    def tokens(self, weight: int) -> int:
        return -(-weight // BYTES_PER_TOKEN) if self._count is None else weight
