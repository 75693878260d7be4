"""Which items of a context survive: every tool call with its result, every result with its call (rule A4).

On a normal path everything pairs, so there are two ways to ask. ``PairingState`` answers from the ids that
the store keeps beside a node's items, without parsing them, and goes on from a shorter path's answer. When it
can't promise that all is well, the items are parsed and ``pair`` tells exactly what has to go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Pairing:
    """What ``pair`` found; indexes are positions in the items it was given, ascending.

    ``dropped_calls`` and ``dropped_results`` carry the call id beside the index.
    """

    kept: tuple[int, ...]
    dropped_calls: tuple[tuple[int, str], ...]
    dropped_results: tuple[tuple[int, str], ...]
    dropped_reasoning: tuple[int, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing has to be dropped."""
        return not (self.dropped_calls or self.dropped_results or self.dropped_reasoning)


def call_ids(items: Iterable[dict[str, Any]]) -> list[str]:
    """The ids of the tool calls among ``items``, in order, repeats included."""
    return [item["call_id"] for item in items if item.get("type") == "tool_call"]


def result_ids(items: Iterable[dict[str, Any]]) -> list[str]:
    """The call ids that the tool results among ``items`` answer, in order, repeats included."""
    return [item["call_id"] for item in items if item.get("type") == "tool_result"]


def pair(items: Sequence[dict[str, Any]], boundaries: Sequence[int] = ()) -> Pairing:
    """Pair the tool calls and results of a context; linear in the number of items.

    A result answers the nearest unanswered call of its id before it. Calls left without a result, results
    without a call, and reasoning bound to filtered calls only are dropped. A run of reasoning is bound to
    what the same model call returned after it, up to the next run: if that is nothing but dropped calls, the
    run goes too. ``boundaries`` are the indexes at which the items of each node begin. What only a caller can
    send (a tool result, a message not by the assistant) ends what was returned before it as well.
    """
    unanswered: dict[str, list[int]] = {}
    orphans: list[tuple[int, str]] = []
    for index, item in enumerate(items):
        kind = item.get("type")
        if kind == "tool_call":
            unanswered.setdefault(item["call_id"], []).append(index)
        elif kind == "tool_result":
            waiting = unanswered.get(item["call_id"])
            if waiting:
                waiting.pop()
            else:
                orphans.append((index, item["call_id"]))
    calls = sorted((index, call_id) for call_id, indexes in unanswered.items() for index in indexes)
    reasoning = _bound_reasoning(items, {index for index, _ in calls}, set(boundaries)) if calls else ()
    gone = {index for index, _ in calls} | {index for index, _ in orphans} | set(reasoning)
    kept = tuple(index for index in range(len(items)) if index not in gone)
    return Pairing(kept, tuple(calls), tuple(orphans), reasoning)


def _bound_reasoning(items: Sequence[dict[str, Any]], filtered: set[int], boundaries: set[int]) -> tuple[int, ...]:
    """Indexes of reasoning that precedes nothing but filtered calls in what its model call returned."""
    dropped: list[int] = []
    run: list[int] = []
    lost = kept = False  # what followed the run so far: a filtered call; anything else

    def close() -> None:
        nonlocal run, lost, kept
        if lost and not kept:
            dropped.extend(run)
        run, lost, kept = [], False, False

    for index, item in enumerate(items):
        if index in boundaries or _only_sent(item):
            close()
        if item.get("type") == "reasoning":
            if lost or kept:
                close()
            run.append(index)
        elif index in filtered:
            lost = True
        else:
            kept = True
    close()
    return tuple(dropped)


def _only_sent(item: dict[str, Any]) -> bool:
    """Whether a model never returns this item."""
    kind = item.get("type", "message")
    return kind == "tool_result" or (kind == "message" and item.get("role") != "assistant")


@dataclass(frozen=True, slots=True)
class PairingState:
    """How far the calls on a path are answered, from ids alone; never changes, so prefixes may share it.

    ``open`` counts the unanswered calls per id; ``broken`` says that a result without a call was seen.
    The results of a node are taken to stand before its calls (a node sends results and returns calls). Where
    its items are in another order the state may say unclean although ``pair`` finds nothing to drop, but when
    it says clean, ``pair`` drops nothing.
    """

    open: Mapping[str, int]
    broken: bool = False

    @property
    def clean(self) -> bool:
        """Whether every call so far has its result and every result its call."""
        return not (self.broken or self.open)

    def after(self, result_ids: Sequence[str], call_ids: Sequence[str]) -> PairingState:
        """The state after one more node of the path; ``self`` if that has neither results nor calls."""
        if not result_ids and not call_ids:
            return self
        return self.through(((result_ids, call_ids),))

    def through(self, nodes: Iterable[tuple[Sequence[str], Sequence[str]]]) -> PairingState:
        """The state after several nodes, each given as ``(result_ids, call_ids)``, in path order."""
        waiting = dict(self.open)
        broken = self.broken
        for results, calls in nodes:
            for call_id in results:
                left = waiting.get(call_id, 0) - 1
                if left > 0:
                    waiting[call_id] = left
                elif left == 0:
                    del waiting[call_id]
                else:
                    broken = True
            for call_id in calls:
                waiting[call_id] = waiting.get(call_id, 0) + 1
        return PairingState(waiting, broken) if waiting or broken else EMPTY


EMPTY = PairingState({})
"""The state of a path with no nodes yet."""
