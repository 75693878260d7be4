"""What the next call sends: the items of a path, root first, then the call's own new items."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from graphstore import cachemarks, jsontext, rendering
from graphstore import items as item_text
from graphstore.bookmarks import Bookmark
from graphstore.cacheplan import Beside, CachePlan, Tokenizer, planned, shared
from graphstore.chaining import Chain, continued
from graphstore.errors import InvalidInput, ReasoningMismatch
from graphstore.items import ItemDict, ItemText
from graphstore.pairing import Pairing, pair
from graphstore.reasoning import Block, Origin, Policy, Stretch, checked, judged, permitted, without
from graphstore.segments import Owners, Segment, inner
from graphstore.window import Window


@dataclass(frozen=True)
class Settings:
    """What a call sends beside its items: prompt, tools and response format, with the hash of each."""

    system: str | None = None
    tools: list[dict[str, Any]] | None = None
    response_format: dict[str, Any] | None = None
    system_hash: str | None = None
    tools_hash: str | None = None
    response_format_hash: str | None = None


@dataclass(frozen=True)
class Context:
    """A context, assembled; what it is asked for is computed then.

    ``conversation_id``, ``cursor``, ``version`` and ``epoch`` say what it was read from (``None`` when a node was
    named). ``readers`` are the names by which its compactions were read. ``held`` is how many of its nodes this process
    already had and didn't read again. ``origins`` are there only
    if a ``policy`` for reasoning was asked for; ``provider`` and ``model`` are those it was assembled for.
    ``window`` is which part of the path it has, if a limit was given; ``whole`` is then the end of the whole path.
    """

    segment: Segment | None
    new_items: ItemText
    settings: Settings = field(default_factory=Settings)
    conversation_id: str | None = None
    cursor: str | None = None
    version: int | None = None
    epoch: int | None = None
    owners: Owners = frozenset()
    readers: tuple[str, ...] = ("*",)
    held: int = 0
    explained: Mapping[str, str] = field(default_factory=dict)
    provider: str | None = None
    model: str | None = None
    policy: Policy | None = None
    origins: Mapping[str, Origin] | None = None
    window: Window | None = None
    whole: Segment | None = None

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The ids of the nodes on the path, root (or readable compaction) first."""
        return tuple(segment.node_id for segment in self._line)

    @cached_property
    def _line(self) -> list[Segment]:
        return [] if self.segment is None else self.segment.line()

    @property
    def node_id(self) -> str | None:
        """The node the context ends at."""
        return None if self.segment is None else self.segment.node_id

    @property
    def path_end(self) -> Segment | None:
        """The end of the whole path, also where the context is a window of it."""
        return self.segment if self.window is None else self.whole

    @property
    def bookmark(self) -> str:
        """Where the stored part of the context ends, opaque: ``store.tail(…, below=bookmark)`` reads on from there."""
        if self.segment is None:
            return Bookmark(None, self.readers, frozenset(), frozenset(), frozenset()).encoded()
        facts = self.segment.facts
        waiting = frozenset(facts.pairing.open)
        return Bookmark(self.segment.node_id, self.readers, facts.owners, facts.unsettled, waiting).encoded()

    @property
    def _exact(self) -> bool:
        return self.new_items.exact or (self.segment is not None and self.segment.facts.exact)

    @property
    def _paired(self) -> bool:
        """Whether ids alone show that every call has its result: then nothing needs filtering."""
        pairing = self.segment.facts.pairing if self.segment is not None else None
        new = self.new_items
        if pairing is None:
            return not (new.call_ids or new.result_ids)
        return pairing.after(new.result_ids, new.call_ids).clean

    @cached_property
    def _parsed(self) -> tuple[list[ItemDict], Pairing | None, list[tuple[int, str | None]]]:
        """All items before filtering, what to filter, and where each node's items begin."""
        if self._paired:
            return item_text.decode(self._joined, exact=self._exact), None, []
        items: list[ItemDict] = []
        starts: list[tuple[int, str | None]] = []
        for segment in self._line:
            starts.append((len(items), segment.node_id))
            for text in segment.texts:
                items += item_text.decode(f"[{text}]", exact=segment.facts.exact)
        starts.append((len(items), None))
        items += item_text.decode(self.new_items.text, exact=self.new_items.exact)
        pairing = pair(items, [start for start, _ in starts])
        return items, (None if pairing.clean else pairing), starts

    @cached_property
    def path_items(self) -> list[ItemDict]:
        """The neutral items, tool calls and results paired, before any policy for reasoning; ``blocks`` point here."""
        items, pairing, _ = self._parsed
        return items if pairing is None else [items[index] for index in pairing.kept]

    @cached_property
    def items(self) -> list[ItemDict]:
        """The neutral items to send, tool calls and results paired; without what the policy ``drop`` leaves out."""
        return without(self.path_items, self.blocks) if self._drops else self.path_items

    @cached_property
    def _drops(self) -> bool:
        """Whether the policy leaves out anything."""
        return self.policy == "drop" and not all(block.bound for block in self.blocks)

    @property
    def _as_stored(self) -> bool:
        """Whether the items to send are the stored ones, all of them."""
        return (self._paired or self._parsed[1] is None) and not self._drops

    @property
    def _joined(self) -> bytes:
        parts = [text for segment in self._line for text in segment.texts]
        if self.new_items.count:
            parts.append(inner(self.new_items.text))
        if not parts:
            return b"[]"
        # The brackets go to the first and last part: put around the whole, they would copy it twice more.
        parts[0] = "[" + parts[0]
        parts[-1] += "]"
        return ",".join(parts).encode()

    @cached_property
    def body(self) -> bytes:
        """The items as a JSON array, UTF-8, joined from the stored text (written anew if anything is left out)."""
        if self._as_stored:
            return self._joined
        return jsontext.dumps(self.items).encode()

    @cached_property
    def hash(self) -> str:
        """Fingerprint of what is sent: items, system prompt, tools and response format (hex SHA-256)."""
        if self.segment is not None and self._as_stored:
            hasher = self.segment.hasher().copy()
            if self.new_items.count:
                comma = "" if self.segment.blank else ","
                hasher.update((comma + inner(self.new_items.text)).encode())
        else:
            hasher = hashlib.sha256(self.body[1:-1])
        settings = self.settings
        for part in (settings.system_hash, settings.tools_hash, settings.response_format_hash):
            hasher.update(b"\n" + (part or "").encode())
        return hasher.hexdigest()

    @cached_property
    def filtered(self) -> list[tuple[str | None, str, str]]:
        """What the last step left out: node (``None``: the new items), ``call`` or ``result``, and call id."""
        if self._paired:
            return []
        _, pairing, starts = self._parsed
        if pairing is None:
            return []
        found = [(index, "call", call_id) for index, call_id in pairing.dropped_calls]
        found += [(index, "result", call_id) for index, call_id in pairing.dropped_results]
        out: list[tuple[str | None, str, str]] = []
        place = 0
        for index, what, call_id in sorted(found):
            while place + 1 < len(starts) and starts[place + 1][0] <= index:
                place += 1
            out.append((starts[place][1], what, call_id))
        return out

    @cached_property
    def expected(self) -> list[str]:
        """What was filtered and is explained by an overflow, a stop or a lost round."""
        return [
            f"tool {what} {call_id!r} of node {node!r} was left out: {self.explained[node]}"
            for node, what, call_id in self.filtered
            if node is not None and what == "call" and node in self.explained
        ]

    @cached_property
    def warnings(self) -> list[str]:
        """What was filtered without such a reason: a defect in whatever wrote these nodes. And where a window had to be
        another than was asked.
        """
        return [
            f"tool {what} {call_id!r} of {f'node {node!r}' if node else 'the new items'} was left out: it has no "
            + ("result" if what == "call" else "call")
            for node, what, call_id in self.filtered
            if not (what == "call" and node in self.explained)
        ] + list(() if self.window is None else self.window.notes)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The signed or encrypted items, each with what no longer is as its model saw it.

        Raises ``InvalidInput`` unless the context was assembled with a policy for reasoning.
        """
        if self.origins is None:
            raise InvalidInput(
                "where this context's reasoning comes from was not read; ask for it by "
                "store.context(…, reasoning='keep'), 'drop' or 'error'"
            )
        settings = self.settings
        target = Origin(self.provider, self.model, settings.system_hash, settings.tools_hash)
        new = item_text.decode(self.new_items.text, exact=self.new_items.exact)
        return judged(self._stretches, new, self.origins, target, self._dropped)

    def chain(self) -> Chain:
        """What to send to the provider it was assembled for, after the nearest response that this provider holds.

        Raises ``InvalidInput`` unless the context's origins were read; ``store.chain`` does both.
        """
        if self.origins is None or self.provider is None:
            raise InvalidInput("the responses on this context's path were not read; ask for them by store.chain(…)")
        found = continued(self._stretches, self.origins, self._dropped, self.provider, self.model)
        settings = self.settings
        if found is None:
            return Chain(None, None, self.path_items, settings.system, settings.tools)
        response_id, node_id, covered = found
        # Nothing is left out up to there, so the items it covers are the first ones of what is kept as well.
        return Chain(response_id, node_id, self.path_items[covered:], settings.system, settings.tools)

    def cache_plan(self, beside: Mapping[str, Sequence[Beside]], count_tokens: Tokenizer | None = None) -> CachePlan:
        """What of this request an earlier one of its tree has sent; ``beside`` are the calls off its path.

        Raises ``InvalidInput`` unless the context's origins were read; ``store.cache_plan`` does both.
        """
        if self.origins is None:
            raise InvalidInput("the calls on this context's path were not read; ask for them by store.cache_plan(…)")
        settings = self.settings
        target = Origin(None, self.model, settings.system_hash, settings.tools_hash)
        new = item_text.decode(self.new_items.text, exact=self.new_items.exact)
        found, covered = shared(self._stretches, new, self.origins, beside, target, self._dropped)
        head = "".join(jsontext.dumps(part) for part in (settings.tools, settings.system) if part is not None)
        texts = [jsontext.dumps(item) for item in self.path_items]
        return planned(texts, head, found, covered, self.model, count_tokens)

    @property
    def _dropped(self) -> set[int]:
        """The positions among all items of those that pairing leaves out."""
        _, pairing, _ = self._parsed
        if pairing is None:
            return set()
        by_id = {index for index, _ in (*pairing.dropped_calls, *pairing.dropped_results)}
        return by_id.union(pairing.dropped_reasoning)

    @property
    def _stretches(self) -> list[Stretch]:
        return [self._stretch(segment) for segment in self._line]

    def _stretch(self, segment: Segment) -> Stretch:
        texts = segment.texts
        if len(texts) < 2:  # one of the two arrays was empty
            origin = (self.origins or {}).get(segment.node_id, Origin())
            text = texts[0] if texts else ""
            texts = (text, "") if origin.sends else ("", text)
        sent, returned = (item_text.decode(f"[{text}]", exact=segment.facts.exact) for text in texts)
        return Stretch(segment.node_id, texts[0], texts[1], sent, returned)

    def refuse_mismatch(self) -> None:
        """Raise ``ReasoningMismatch`` if any reasoning is no longer bound to what comes before it."""
        unbound = [block for block in self.blocks if not block.bound]
        if unbound:
            changes = dict.fromkeys(change for block in unbound for change in block.changes)
            raise ReasoningMismatch(tuple(dict.fromkeys(block.node_id for block in unbound)), tuple(changes))

    def render(self, as_: str, *, reasoning: str | None = None, cache: CachePlan | None = None) -> dict[str, Any]:
        """The request of a provider (``openai-chat``, ``openai-responses``, ``anthropic``, ``gemini``) or ``items``.

        Gives the keyword arguments to pass to the provider's client. ``reasoning`` is what to do about blocks that are
        no longer bound (default: as the context was assembled, which is to send them as they are without a look).
        With ``cache``, the plan of this very request, the cache markers that it wants are set for ``anthropic``; other
        providers have none.
        Raises ``InvalidInput`` for an unknown shape or policy, ``ReasoningMismatch`` as ``reasoning="error"`` demands.
        """
        policy = self.policy if reasoning is None else checked(reasoning)
        items = self.path_items
        markers = cache.markers if cache is not None and as_ == "anthropic" else ()
        if cache is not None and cache.total_items != len(items):
            raise InvalidInput(
                f"the cache plan is of a request of {cache.total_items} items, and this one has {len(items)}; make it "
                "with store.cache_plan(…) of the same node and new items"
            )
        if markers:
            items = cachemarks.on_items(items, markers)
        if policy == "error":
            self.refuse_mismatch()
        elif policy == "drop":
            items = without(items, self.blocks)
        request = rendering.render(items, as_, system=self.settings.system, tools=self.settings.tools)
        if "system" in markers:
            request = cachemarks.on_head(request)
        return request if policy is None else permitted(request, as_, policy, self.model, self.blocks)
