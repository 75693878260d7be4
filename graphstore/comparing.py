"""Two sequences of items compared one by one (rule W1). Pure.

The time is near-linear whatever is compared: items that stand on each side once are anchors, and only what lies between
two anchors is compared in full, if that is little.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from graphstore.fingerprint import content_hash
from graphstore.models_branches import ComparedItem, Difference

FULL = 250_000
"""How many pairs of items, at most, are compared in full between two anchors; more are told apart by their place."""

Match = tuple[int, int]


def differences(left: Sequence[ComparedItem], right: Sequence[ComparedItem]) -> tuple[Difference, ...]:
    """The steps that lead from the items of one side to those of the other, in order.

    Items are equal when their content is, whatever the order of their keys.
    """
    matches = _matches([content_hash(one.item) for one in left], [content_hash(one.item) for one in right])
    out: list[Difference] = []
    at_left = at_right = 0
    for i, j in [*matches, (len(left), len(right))]:
        out += _unequal(left[at_left:i], right[at_right:j])
        if i < len(left) and j < len(right):
            out.append(Difference(kind="equal", left=left[i], right=right[j]))
        at_left, at_right = i + 1, j + 1
    return tuple(out)


def _unequal(left: Sequence[ComparedItem], right: Sequence[ComparedItem]) -> Iterator[Difference]:
    """What stands between two equal items: items of one kind replace each other, place by place."""
    for old, new in zip_longest(left, right):
        if old is not None and new is not None and _kind(old.item) == _kind(new.item):
            yield Difference(kind="replaced", left=old, right=new)
            continue
        if old is not None:
            yield Difference(kind="removed", left=old)
        if new is not None:
            yield Difference(kind="added", right=new)


def _kind(item: dict[str, Any]) -> tuple[Any, Any]:
    return item.get("type", "message"), item.get("role")


def _matches(left: Sequence[str], right: Sequence[str]) -> list[Match]:
    """Places of equal values, ascending on both sides."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    left_end, right_end = len(left) - end, len(right) - end
    found = [(place, place) for place in range(start)]
    at_left = at_right = start
    for i, j in [*_anchors(left, right, start, left_end, right_end), (left_end, right_end)]:
        found += _full(left, right, (at_left, i), (at_right, j))
        if (i, j) != (left_end, right_end):
            found.append((i, j))
        at_left, at_right = i + 1, j + 1
    return found + [(left_end + place, right_end + place) for place in range(end)]


def _anchors(left: Sequence[str], right: Sequence[str], start: int, left_end: int, right_end: int) -> list[Match]:
    """The longest ascending run of values that stand on each side once."""
    here, there = Counter(left[start:left_end]), Counter(right[start:right_end])
    place_of = {right[j]: j for j in range(start, right_end)}
    unique = [
        (i, place_of[left[i]]) for i in range(start, left_end) if here[left[i]] == 1 and there.get(left[i], 0) == 1
    ]
    tails: list[int] = []  # the least right place at which a run of each length ends
    runs: list[int] = []  # which of ``unique`` that is
    before: list[int | None] = []
    for index, (_, j) in enumerate(unique):
        length = bisect_left(tails, j)
        before.append(runs[length - 1] if length else None)
        if length == len(tails):
            tails.append(j)
            runs.append(index)
        else:
            tails[length], runs[length] = j, index
    run: list[Match] = []
    step = runs[-1] if runs else None
    while step is not None:
        run.append(unique[step])
        step = before[step]
    run.reverse()
    return run


def _full(left: Sequence[str], right: Sequence[str], here: tuple[int, int], there: tuple[int, int]) -> list[Match]:
    """The equal values of two stretches without anchors, if they are small; else those in the same place."""
    (i, left_end), (j, right_end) = here, there
    if (left_end - i) * (right_end - j) > FULL:
        return [(i + k, j + k) for k in range(min(left_end - i, right_end - j)) if left[i + k] == right[j + k]]
    matcher = SequenceMatcher(None, left[i:left_end], right[j:right_end], autojunk=False)
    return [(i + block.a + k, j + block.b + k) for block in matcher.get_matching_blocks() for k in range(block.size)]
