"""Where tool results stand: right after the model's output that called them.

Chat Completions and Anthropic refuse a request in which anything comes between a call and its result, so a
result that was recorded late is moved up. Items that are already in place stay exactly where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from graphstore.rendering.shape import OPENAI_CHAT, Json, kind_of, respelled, role_of, speaker_of


def answered_calls(items: Sequence[Json]) -> dict[int, int]:
    """Index of each paired result → index of its call: the nearest unanswered one of its id before it."""
    unanswered: dict[str, list[int]] = {}
    answers: dict[int, int] = {}
    for index, item in enumerate(items):
        kind = kind_of(item)
        if kind == "tool_call":
            unanswered.setdefault(item["call_id"], []).append(index)
        elif kind == "tool_result":
            waiting = unanswered.get(item["call_id"])
            if waiting:
                answers[index] = waiting.pop()
    return answers


def results_in_place(items: Sequence[Json], answers: dict[int, int]) -> Iterator[tuple[int, Json]]:
    """Every item with its index, each result after the unbroken run of model output that holds its call.

    A result without a call stays where it is.
    """
    results_of: dict[int, list[int]] = {}
    for result, call in answers.items():
        results_of.setdefault(call, []).append(result)
    due: list[int] = []
    for index, item in enumerate(items):
        if from_model(item):
            due.extend(results_of.get(index, ()))
            yield index, item
            continue
        for result in sorted(due):
            yield result, items[result]
        due.clear()
        if index not in answers:
            yield index, item
    for result in sorted(due):
        yield result, items[result]


def from_model(item: Json) -> bool:
    """Whether the item is the model's output rather than something a caller sent."""
    kind = kind_of(item)
    if kind == "message":
        return role_of(item) == "assistant"
    if kind in ("tool_call", "reasoning"):
        return True
    if kind == "tool_result" or (kind == "raw" and item.get("format") == OPENAI_CHAT):
        return False  # a raw Chat message stands for itself and can't be merged into a model's output
    return speaker_of(item) == "assistant"


def spelled_ids(
    items: Sequence[Json], answers: Mapping[int, int], spell: Callable[[str], str] = respelled
) -> dict[int, str]:
    """For calls and results, by index, an id unique per call, and of letters, digits, ``_`` and ``-`` by default."""
    ids: dict[int, str] = {}
    uses: dict[str, int] = {}
    for index, item in enumerate(items):
        kind = kind_of(item)
        if kind == "tool_result" and index in answers:
            ids[index] = ids[answers[index]]
        elif kind in ("tool_call", "tool_result"):
            spelled = spell(item["call_id"])
            wire_id = spelled
            while kind == "tool_call" and wire_id in uses:
                uses[spelled] += 1
                wire_id = f"{spelled}_{uses[spelled]}"
            uses.setdefault(wire_id, 1)
            ids[index] = wire_id
    return ids
