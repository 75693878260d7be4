"""Reasoning bound to its prefix (rule P1): which blocks still are, and what to do about those that aren't.

Providers sign or encrypt what a model thought, and check it when it comes back: whether the same model made it, and
whether what stood before it (items, system prompt, tools) is what stood there then. A block is judged by what the
store knows of the call that returned it: the fingerprint of what that call sent, its prompt, tools, provider and model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from graphstore import jsontext
from graphstore.errors import InvalidInput

if TYPE_CHECKING:
    from hashlib import _Hash

Policy = Literal["drop", "keep", "error"]
Change = Literal["provider", "model", "system", "tools", "prefix"]

_POLICIES: tuple[Policy, ...] = ("drop", "keep", "error")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Provider:
    """What a provider says about reasoning that comes back to it; ``sources`` are the pages that say so.

    ``needed`` tells whether it refuses a request whose running turn has lost its reasoning. ``permission`` is what asks
    it to drop blocks that don't fit instead of refusing the request, for ``models`` whose names begin so.
    """

    needed: bool
    sources: tuple[str, ...]
    permission: Json | None = None
    models: tuple[str, ...] = ()


SKIPPED_SIGNATURE = "skip_thought_signature_validator"
"""What Gemini takes in place of the signature of a call that it didn't make itself, or no longer fits."""

PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        needed=True,
        sources=(
            "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking",
            "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks",
            "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
        ),
        permission={
            "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
        },
        models=("claude-fable-5-", "claude-mythos-5-", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"),
    ),
    "openai-responses": Provider(
        needed=False,
        sources=(
            "https://platform.openai.com/docs/guides/reasoning",
            "https://github.com/pydantic/pydantic-ai/issues/4608",
        ),
    ),
    "gemini": Provider(needed=True, sources=("https://ai.google.dev/gemini-api/docs/thought-signatures",)),
}
"""By shape of request. Where a model isn't known to take a permission, none is given: it could refuse the field."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The circumstances of a call.

    ``context_hash`` is of all it sent (``None``: not recorded, as with imports), ``sends`` says whether it gives items
    of its own to a context before those it returned, ``response_id`` is the provider's, if the call succeeded.
    ``dropped_for`` is the provider and model for which it left out reasoning that didn't fit (``None``: it didn't).
    """

    provider: str | None = None
    model: str | None = None
    system_hash: str | None = None
    tools_hash: str | None = None
    response_format_hash: str | None = None
    context_hash: str | None = None
    sends: bool = True
    response_id: str | None = None
    dropped_for: tuple[str | None, str | None] | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one node gives to a context: the stored JSON between its arrays' brackets, and the items it parses to."""

    node_id: str
    sent_text: str
    returned_text: str
    sent: Sequence[Json]
    returned: Sequence[Json]


@dataclass(frozen=True, slots=True)
class Block:
    """A signed or encrypted item of a context, at ``index`` of its path's items, returned by ``node_id``.

    ``changes`` are the ways in which what comes before it is no longer what its model saw; none: it is still bound.
    ``running`` says that it belongs to the turn that the context leaves open, where providers insist on it.
    """

    index: int
    node_id: str
    changes: tuple[Change, ...]
    running: bool

    @property
    def bound(self) -> bool:
        """Whether it still fits what comes before it."""
        return not self.changes


class Prefix:
    """A context up to some point, and whether a call sent just that; ``dropped`` are the items pairing leaves out."""

    def __init__(self, dropped: Iterable[int]) -> None:
        self.gone = frozenset(dropped)
        self.items: list[Json] = []
        self._hasher = hashlib.sha256()
        self._started = False

    def take(self, text: str, items: Sequence[Json]) -> None:
        """Go on by what was sent or returned next: its stored JSON between the brackets, and the items it parses to."""
        if text:
            self._hasher.update((("," if self._started else "") + text).encode())
            self._started = True
        self.items += items

    def then(self, text: str, items: Sequence[Json]) -> Prefix:
        """This prefix with something else after it than what the context goes on with."""
        longer = Prefix(index for index in self.gone if index < len(self.items))
        longer.items, longer._hasher, longer._started = list(self.items), self._hasher.copy(), self._started
        longer.take(text, items)
        return longer

    @property
    def filtered(self) -> bool:
        """Whether anything up to here is left out."""
        return any(index < len(self.items) for index in self.gone)

    def was_sent_by(self, origin: Origin) -> bool:
        """Whether these are the items that the call sent; where none were recorded, whether all of them are here."""
        if origin.context_hash is None:
            return not self.filtered
        return _fits(_hasher_of(self.kept) if self.filtered else self._hasher.copy(), origin)

    @property
    def kept(self) -> list[Json]:
        """The items up to here, but for those that are left out."""
        return [item for index, item in enumerate(self.items) if index not in self.gone]


def _hasher_of(items: Sequence[Json]) -> _Hash:
    return hashlib.sha256(jsontext.dumps(items).encode()[1:-1])


def _fits(hasher: _Hash, origin: Origin) -> bool:
    """Whether a hash of items, together with the call's own settings, is the fingerprint of what it sent."""
    for part in (origin.system_hash, origin.tools_hash, origin.response_format_hash):
        hasher.update(b"\n" + (part or "").encode())
    return hasher.hexdigest() == origin.context_hash


def checked(policy: str) -> Policy:
    """``policy`` if it is one; else ``InvalidInput``."""
    for known in _POLICIES:
        if policy == known:
            return known
    raise InvalidInput(f"{policy!r} is not a policy for reasoning; choose one of {', '.join(_POLICIES)}")


def judged(
    stretches: Sequence[Stretch],
    new_items: Sequence[Json],
    origins: Mapping[str, Origin],
    target: Origin,
    dropped: Collection[int],
) -> tuple[Block, ...]:
    """The signed blocks of a context, each compared with where it came from.

    ``target`` is the call to be made (a provider or model that is ``None`` isn't compared); ``dropped`` are the
    positions, among all items, of those that pairing leaves out.
    """
    prefix = Prefix(dropped)
    gone = prefix.gone
    found: list[_Signed] = []
    for stretch in stretches:
        prefix.take(stretch.sent_text, stretch.sent)
        before = len(prefix.items)
        signed = [before + place for place, item in enumerate(stretch.returned) if is_signed(item)]
        if signed:
            origin = origins.get(stretch.node_id, Origin())
            same = _stood_there(prefix, found, origin)
            found += [_Signed(index, stretch.node_id, origin, same) for index in signed if index not in gone]
        prefix.take(stretch.returned_text, stretch.returned)
    items = [*prefix.items, *new_items]
    asked = max((index for index, item in enumerate(items) if _asks(item)), default=-1)
    return _blocks(found, target, gone, asked)


@dataclass(frozen=True, slots=True)
class _Signed:
    """A signed item at ``index`` of all items, and whether what comes before it is what its call was assembled from."""

    index: int
    node_id: str
    origin: Origin
    same_prefix: bool


def _stood_there(prefix: Prefix, found: Sequence[_Signed], origin: Origin) -> bool:
    """Whether the call was assembled from this prefix, of which it may have dropped what didn't fit then."""
    if origin.dropped_for is not None and origin.context_hash is not None:
        then = Origin(*origin.dropped_for, origin.system_hash, origin.tools_hash)
        blocks = _blocks(found, then, prefix.gone, -1)
        if not all(block.bound for block in blocks):
            return _fits(_hasher_of(without(prefix.kept, blocks)), origin)
    return prefix.was_sent_by(origin)


def _blocks(found: Sequence[_Signed], target: Origin, gone: frozenset[int], asked: int) -> tuple[Block, ...]:
    """Each as a block for ``target``, with its position among the items that are kept."""
    left_out = sorted(gone)
    blocks: list[Block] = []
    before = 0
    for one in found:
        while before < len(left_out) and left_out[before] < one.index:
            before += 1
        changes = _changes(one.origin, target, one.same_prefix)
        blocks.append(Block(one.index - before, one.node_id, changes, one.index > asked))
    return tuple(blocks)


def _changes(origin: Origin, target: Origin, same_prefix: bool) -> tuple[Change, ...]:
    changes: list[Change] = []
    if None not in (origin.provider, target.provider) and origin.provider != target.provider:
        changes.append("provider")
    if None not in (origin.model, target.model) and origin.model != target.model:
        changes.append("model")
    if origin.system_hash != target.system_hash:
        changes.append("system")
    if origin.tools_hash != target.tools_hash:
        changes.append("tools")
    if not same_prefix:
        changes.append("prefix")
    return tuple(changes)


def _asks(item: Json) -> bool:
    """Whether an item begins a turn: something said to the model that isn't a tool's result."""
    return item.get("type", "message") == "message" and item.get("role") != "assistant"


def is_signed(item: Json) -> bool:
    """Whether a provider checks the item against its prefix: signed or encrypted, or of a provider's own making."""
    kind = item.get("type")
    if kind == "reasoning":
        return any(item.get(name) for name in ("signature", "encrypted", "extra"))
    if kind == "tool_call":
        return _signature(item)
    content = item.get("content")
    return isinstance(content, list) and any(isinstance(part, dict) and _signature(part) for part in content)


_GEMINI, _SIGNATURE = "gemini", "thoughtSignature"


def _signature(holder: Json) -> bool:
    extra = holder.get("extra")
    fields = extra.get(_GEMINI) if isinstance(extra, dict) else None
    return isinstance(fields, dict) and _SIGNATURE in fields


def without(items: Sequence[Json], blocks: Sequence[Block]) -> list[Json]:
    """``items`` without the blocks that are no longer bound; nothing passed in is changed.

    Reasoning goes; what is signed besides (Gemini's calls and texts) only loses its signature. Other items that the
    same call returned lose the ids of OpenAI's store, which would ask for the reasoning they were stored with.
    """
    unbound = {block.index: block for block in blocks if not block.bound}
    kept: list[Json] = []
    forgetting = False
    for index, item in enumerate(items):
        if index in unbound:
            forgetting = True
            if item.get("type") != "reasoning":
                kept.append(_unsigned(item))
            continue
        kind = item.get("type", "message")
        if kind == "tool_result" or _asks(item):
            forgetting = False
        kept.append(_without_field(item, "openai-responses", "id") if forgetting else item)
    return kept


def _unsigned(item: Json) -> Json:
    content = item.get("content")
    if isinstance(content, list):
        parts = [_without_field(part, _GEMINI, _SIGNATURE) if isinstance(part, dict) else part for part in content]
        item = {**item, "content": parts}
    return _without_field(item, _GEMINI, _SIGNATURE)


def _without_field(holder: Json, shape: str, name: str) -> Json:
    extra = holder.get("extra")
    fields = extra.get(shape) if isinstance(extra, dict) else None
    if not isinstance(fields, dict) or name not in fields:
        return holder
    left = {key: value for key, value in fields.items() if key != name}
    return {**holder, "extra": {**extra, shape: left}} if isinstance(extra, dict) else holder


def permitted(request: Json, shape: str, policy: Policy, model: str | None, blocks: Sequence[Block]) -> Json:
    """``request`` with what its provider wants beside blocks that no longer fit; the same where nothing is wanted."""
    provider = PROVIDERS.get(shape)
    unbound = any(not block.bound for block in blocks)
    if provider is None or not unbound:
        return request
    if policy == "keep" and provider.permission is not None and (model or "").startswith(provider.models):
        return {**request, **provider.permission}
    if policy == "drop" and shape == _GEMINI:
        return {**request, "contents": _with_skipped(request["contents"])}
    return request


def _with_skipped(contents: Sequence[Json]) -> list[Json]:
    """Contents whose running turn begins each of its groups of calls with a signature, or what stands in for one."""
    asked = max(
        (
            place
            for place, content in enumerate(contents)
            if content["role"] == "user" and any("functionResponse" not in part for part in content["parts"])
        ),
        default=-1,
    )
    signed = list(contents[: asked + 1])
    for content in contents[asked + 1 :]:
        parts = list(content["parts"])
        first = next((place for place, part in enumerate(parts) if "functionCall" in part), None)
        if first is not None and _SIGNATURE not in parts[first]:
            parts[first] = {**parts[first], _SIGNATURE: SKIPPED_SIGNATURE}
        signed.append({**content, "parts": parts})
    return signed
