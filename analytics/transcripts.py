"""Accepted paths as transcripts in which every trained answer has its place (rule N8). Pure.

A transcript holds the messages of one path as its last call was sent them, and that call's answer. It serves for all
calls before it that were sent the same thing up to their own place: those with the same system prompt, tools and
response format, below the same compaction. Where the same words stand elsewhere in the longer context (a result that
came late and is moved), the answer gets a transcript of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphstore.analytics import prompts
from graphstore.analytics.accepted import Step
from graphstore.analytics.prompts import Readers, Texts
from graphstore.context import Context
from graphstore.items import ItemDict
from graphstore.rendering import render

Json = dict[str, Any]
CHAT = "openai-chat"


@dataclass(frozen=True, slots=True)
class Span:
    """A step's answer: the messages from ``start`` to ``end`` of its transcript. All before ``start`` is its prompt."""

    step: Step
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """Chat messages and, in their order, the answers in it that are the model's own and not empty."""

    context: Context
    messages: list[Json]
    spans: tuple[Span, ...]


def transcripts(texts: Texts, steps: Sequence[Step], contexts: dict[int, Context]) -> Iterator[Transcript]:
    """Transcripts that together have each of the steps once. ``contexts`` are those the steps were sent, by place."""
    for run in _runs(texts, steps):
        whole = _whole(texts, run, contexts[run[-1].place])
        told = {span.step.place for span in whole.spans} if whole else set()
        for step in run[:-1]:
            if step.place not in told:
                yield _alone(texts, step, contexts[step.place])
        yield whole or _alone(texts, run[-1], contexts[run[-1].place])


def _runs(texts: Texts, steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Neighbours that may share a transcript."""
    run: list[Step] = []
    key: Any = None
    bases: dict[Readers, list[int]] = {}
    for step in steps:
        readers = prompts.readers_of(step.reply)
        base = _base(texts, step.place, readers, bases)
        this = (step.reply.setting_hashes, readers, base)
        if run and this != key:
            yield run
            run = []
        run.append(step)
        key = this
    if run:
        yield run


def _base(texts: Texts, place: int, readers: Readers, bases: dict[Readers, list[int]]) -> int:
    """The place of the compaction that stands for what lies above it, for these readers; -1 if there is none."""
    if readers not in bases:
        bases[readers] = [
            at
            for at, node in enumerate(texts.ids)
            if node in texts.compactions and any(reader in texts.compactions[node] for reader in readers)
        ]
    return max((at for at in bases[readers] if at < place), default=-1)


def _whole(texts: Texts, run: Sequence[Step], context: Context) -> Transcript | None:
    """The transcript of a run; ``None`` if the nodes' own messages, one after the other, are not what was sent."""
    last = run[-1]
    readers = prompts.readers_of(last.reply)
    filtered = {(node, what, call_id) for node, what, call_id in context.filtered}
    torn = {node for node, what, _ in filtered if what == "call"}
    wanted = {step.place: step for step in run}
    messages: list[Json] = render([], CHAT, system=context.settings.system)["messages"]
    spans = []
    for place in range(max(_base(texts, last.place, readers, {}), 0), last.place + 1):
        node = texts.ids[place]
        if node not in texts.compactions:
            messages += _said(_kept(_items(texts, node, texts.sent[place]), node, filtered))
        elif not any(reader in texts.compactions[node] for reader in readers):
            continue
        if place == last.place and messages != context.render(CHAT)["messages"]:
            return None
        returned = _items(texts, node, texts.returned[place])
        answer = _said(returned if place == last.place else _kept(returned, node, filtered))
        if place in wanted and (node not in torn or place == last.place):
            spans.append(_span(wanted[place], len(messages), answer))
        messages += answer
    return Transcript(context, messages, tuple(spans))


def _alone(texts: Texts, step: Step, context: Context) -> Transcript:
    """The transcript of one call: what it was sent, and its answer."""
    messages = list(context.render(CHAT)["messages"])
    answer = _said(prompts.returned_items(texts, step.reply.id, texts.returned[step.place]))
    return Transcript(context, messages + answer, (_span(step, len(messages), answer),))


def _span(step: Step, start: int, answer: Sequence[Json]) -> Span:
    """What was returned, up to anything that isn't the model's own."""
    own = next((at for at, message in enumerate(answer) if message["role"] != "assistant"), len(answer))
    return Span(step, start, start + own)


def _items(texts: Texts, node: str, text: str | None) -> list[ItemDict]:
    return prompts.returned_items(texts, node, text)


def _kept(items: list[ItemDict], node: str, filtered: set[tuple[str | None, str, str]]) -> list[ItemDict]:
    """Items without the calls and results that assembly leaves out for want of the other half."""
    kinds = {"tool_call": "call", "tool_result": "result"}
    return [item for item in items if (node, kinds.get(item.get("type", "")), item.get("call_id")) not in filtered]


def _said(items: list[ItemDict]) -> list[Json]:
    messages: list[Json] = render(items, CHAT)["messages"]
    return messages
