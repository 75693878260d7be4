"""The prompt-cache plan (rule P3): how much of a request its provider has likely read before, and where to mark it.

Providers keep what they computed for the beginning of a request, and reuse it for another that begins alike and goes to
the same model. Requests begin with tools and system prompt; when these differ nothing is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graphstore.reasoning import Origin, Prefix, Stretch

Json = dict[str, Any]
Tokenizer = Callable[[str], int]

_ANTHROPIC = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
_ANTHROPIC_TOLD = "https://dev.to/creeta/claudes-prompt-cache-fails-silently-below-1024-tokens-1ch1"
_OPENAI = "https://developers.openai.com/api/docs/guides/prompt-caching"
_GEMINI = "https://ai.google.dev/gemini-api/docs/caching"

MINIMUMS: Mapping[str, tuple[int, str]] = {
    "claude-opus-5": (512, _ANTHROPIC_TOLD),
    "claude-fable-5": (512, _ANTHROPIC_TOLD),
    "claude-mythos-5": (512, _ANTHROPIC_TOLD),
    "claude-sonnet-5": (1024, _ANTHROPIC_TOLD),
    "claude-opus-4-8": (1024, _ANTHROPIC_TOLD),
    "claude-opus-4-7": (2048, _ANTHROPIC_TOLD),
    "claude-opus-4-6": (4096, _ANTHROPIC),
    "claude-opus-4-5": (4096, _ANTHROPIC),
    "claude-opus-4": (1024, _ANTHROPIC),
    "claude-sonnet-4": (1024, _ANTHROPIC),
    "claude-haiku-4-5": (4096, _ANTHROPIC),
    "claude-3-5-haiku": (2048, _ANTHROPIC),
    "claude-3-haiku": (2048, _ANTHROPIC),
    "gpt-": (1024, _OPENAI),
    "gemini-2.5": (2048, _GEMINI),
    "gemini-3": (4096, _GEMINI),
    "gemini-4": (4096, _GEMINI),
}
"""By how a model's name begins (the longest counts): the least tokens that are cached, and the page that says so."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A call that hangs off the path below one of its nodes: where it comes from, and what it sent."""

    node_id: str
    origin: Origin
    text: str
    items: Sequence[Json]


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What a request shares with an earlier one of its tree, in full and in part.

    ``shared_with`` is the call that sent the longest same beginning (``None``: none did), ``shared_items`` how many of
    the request's items that covers. ``shared_bytes`` and ``shared_tokens`` include tools and system prompt, as do
    ``total_bytes`` and ``total_tokens``. Tokens are ``estimated`` as bytes ÷ 4 unless counted by a tokenizer.
    ``minimum`` is the least the model caches (``None``: not known), ``reaches_minimum`` whether the shared part has it.
    ``markers`` are where cache markers go for models that want them: ``"system"`` (after tools and prompt), or the
    position of an item; empty for models that cache by themselves.
    """

    shared_with: str | None
    shared_items: int
    shared_bytes: int
    shared_tokens: int
    total_items: int
    total_bytes: int
    total_tokens: int
    estimated: bool
    minimum: int | None
    minimum_source: str | None
    reaches_minimum: bool | None
    markers: tuple[Literal["system"] | int, ...]


def minimum_of(model: str | None) -> tuple[int, str] | tuple[None, None]:
    """The least tokens that ``model`` caches, and the page that says so."""
    known = [name for name in MINIMUMS if model is not None and model.startswith(name)]
    return MINIMUMS[max(known, key=len)] if known else (None, None)


def shared(
    stretches: Sequence[Stretch],
    new_items: Sequence[Json],
    origins: Mapping[str, Origin],
    beside: Mapping[str, Sequence[Beside]],
    target: Origin,
    dropped: set[int],
) -> tuple[str | None, int]:
    """The call that sent the longest beginning of this request, and how many of the items kept that covers.

    ``beside`` are the calls off the path by the node they hang under.
    """
    prefix = Prefix(dropped)
    longest: tuple[str | None, int] = (None, 0)

    def kept(count: int) -> int:
        return count - sum(1 for index in dropped if index < count)

    for place, stretch in enumerate(stretches):
        prefix.take(stretch.sent_text, stretch.sent)
        origin = origins.get(stretch.node_id, Origin())
        if stretch.sent and _same_call(origin, target) and prefix.was_sent_by(origin):
            longest = stretch.node_id, kept(len(prefix.items))
        prefix.take(stretch.returned_text, stretch.returned)
        covered = kept(len(prefix.items))
        follows = [*stretches[place + 1].sent] if place + 1 < len(stretches) else list(new_items)
        for call in beside.get(stretch.node_id, ()):
            if not _same_call(call.origin, target) or not prefix.then(call.text, call.items).was_sent_by(call.origin):
                continue
            more = 0
            while more < min(len(follows), len(call.items)) and follows[more] == call.items[more]:
                more += 1
            if covered + more > longest[1]:
                longest = call.node_id, covered + more
    return longest


def _same_call(origin: Origin, target: Origin) -> bool:
    return (
        target.model in (None, origin.model)
        and origin.system_hash == target.system_hash
        and origin.tools_hash == target.tools_hash
    )


def planned(
    items: Sequence[str],
    head: str,
    shared_with: str | None,
    shared_items: int,
    model: str | None,
    count_tokens: Tokenizer | None,
) -> CachePlan:
    """The plan of a request of these items' JSON, below ``head``, the text of its tools and system prompt."""
    count = count_tokens or _quarter
    part = (head if shared_with is not None else "") + "".join(items[:shared_items])
    whole = head + "".join(items)
    tokens = count(part) if part else 0
    minimum, source = minimum_of(model)
    return CachePlan(
        shared_with=shared_with,
        shared_items=shared_items,
        shared_bytes=len(part.encode()),
        shared_tokens=tokens,
        total_items=len(items),
        total_bytes=len(whole.encode()),
        total_tokens=count(whole) if whole else 0,
        estimated=count_tokens is None,
        minimum=minimum,
        minimum_source=source,
        reaches_minimum=None if minimum is None else tokens >= minimum,
        markers=_markers(bool(head), shared_items, len(items)) if (model or "").startswith("claude") else (),
    )


def _quarter(text: str) -> int:
    """Tokens of a text by its bytes: four to one, as is usual for English."""
    return -(-len(text.encode()) // 4)


def _markers(head: bool, shared_items: int, total: int) -> tuple[Literal["system"] | int, ...]:
    """After what never changes, at the end of what is shared (to be read), and at the last item (to be written)."""
    places = sorted({place - 1 for place in (shared_items, total) if place > 0})
    first: tuple[Literal["system"], ...] = ("system",) if head else ()
    return (*first, *places)
