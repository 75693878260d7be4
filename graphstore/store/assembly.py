"""Assembly: the context of a conversation or a node, from one query (rules A1 to A7, K2)."""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import zip_longest

from graphstore import items, jsontext, queries
from graphstore.cacheplan import Beside, CachePlan, Tokenizer
from graphstore.context import Context
from graphstore.database import Row
from graphstore.errors import (
    CompactionUnreadable,
    ConversationNotFound,
    NodeNotFound,
    PathBroken,
)
from graphstore.items import ItemsInput, ItemText
from graphstore.payloads import Payloads
from graphstore.reasoning import Origin, Policy
from graphstore.segments import Owners, Segment, extended, inner
from graphstore.store import checking
from graphstore.store.held import Readers
from graphstore.store.session import Session, steady
from graphstore.store.settings import settings_of

log = logging.getLogger("graphstore")


def readers_of(provider: str | None, model: str | None) -> Readers:
    """The names under which a provider and model can read a compaction; everyone is ``*``."""
    checking.text(provider, "a provider")
    checking.text(model, "a model")
    names = ["*"]
    if provider is not None:
        names.append(provider)
    if model is not None:
        names.append(model)
        if provider is not None:
            names.append(f"{provider}/{model}")
    return tuple(names)


def assemble(
    session: Session,
    conversation_id: str | None,
    node_id: str | None,
    readers: Readers,
    new_items: ItemText = items.NO_ITEMS,
) -> Context:
    """Assemble the context of a conversation's cursor, or of a node; one round trip.

    Raises ``ConversationNotFound``, ``NodeNotFound``, ``PathBroken`` or ``CompactionUnreadable``.
    """
    return with_new_items(session, steady(lambda: _read(session, conversation_id, node_id, readers)), new_items)


def _read(session: Session, conversation_id: str | None, node_id: str | None, readers: Readers) -> Context:
    held = session.held.candidates(readers, conversation_id, node_id)
    context = _extend(session, conversation_id, node_id, readers, held) if held else None
    if context is None:
        row = session.row(queries.ASSEMBLE, conversation_id=conversation_id, node_id=node_id, readers=list(readers))
        context = _context(session, row or {}, conversation_id, node_id, None, readers)
    return context


def with_new_items(session: Session, context: Context, new_items: ItemText) -> Context:
    """The context with a call's own items at its end; says loudly when something had to be filtered."""
    context = with_reasons(session, replace(context, new_items=new_items))
    for warning in context.warnings:
        log.warning("conversation %r: %s", context.conversation_id, warning)
    return context


def with_reasons(session: Session, context: Context) -> Context:
    """The context with why the calls that had to be filtered have no result, where that is known."""
    if not context.filtered:
        return context
    nodes = {node for node, what, _ in context.filtered if node is not None and what == "call"}
    explained = {row["node_id"]: row["explanation"] for row in session.rows(queries.OPEN_CALLS, node_ids=sorted(nodes))}
    return replace(context, explained=explained)


def with_origins(
    session: Session, context: Context, provider: str | None, model: str | None, policy: Policy | None = None
) -> Context:
    """The context with where each of its nodes comes from, to judge its reasoning (P1) or to continue it (P2)."""
    rows = session.rows(queries.ORIGINS, node_ids=list(context.nodes))
    origins = {row.pop("node_id"): _origin(row) for row in map(dict, rows)}
    return replace(context, provider=provider, model=model, policy=policy, origins=origins)


def under_policy(
    session: Session, context: Context, provider: str | None, model: str | None, policy: Policy | None
) -> Context:
    """The context as a policy for reasoning has it; without one it is not looked at.

    Raises ``ReasoningMismatch`` as the policy ``error`` demands.
    """
    if policy is None:
        return context
    context = with_origins(session, context, provider, model, policy)
    if policy == "error":
        context.refuse_mismatch()
    return context


def _origin(row: Row) -> Origin:
    options = row.pop("options")
    chosen = {} if options is None else jsontext.loads(options).get("reasoning", {})
    dropped_for = (chosen["provider"], chosen["model"]) if chosen.get("policy") == "drop" else None
    return Origin(**row, dropped_for=dropped_for)


def plan_cache(session: Session, context: Context, count_tokens: Tokenizer | None) -> CachePlan:
    """What of a context (with its origins) other calls of its tree have sent already (P3)."""
    nodes = context.nodes
    settings = context.settings
    rows = session.rows(
        queries.REQUESTS_BESIDE,
        steps=[[node, after] for node, after in zip_longest(nodes, nodes[1:])],
        model=context.model,
        system_hash=settings.system_hash or "",
        tools_hash=settings.tools_hash or "",
    )
    payloads = session.payloads(row["sent"] for row in rows)
    beside: dict[str, list[Beside]] = {}
    for row in map(dict, rows):
        above, node_id, sent, exact = (row.pop(name) for name in ("above", "node_id", "sent", "exact"))
        sent = payloads.restored(sent)
        call = Beside(node_id, Origin(**row), inner(sent), items.decode(sent, exact=exact))
        beside.setdefault(above, []).append(call)
    return context.cache_plan(beside, count_tokens)


def _extend(
    session: Session, conversation_id: str | None, node_id: str | None, readers: Readers, held: list[Segment]
) -> Context | None:
    """Read only what is below a held context; ``None`` when nothing held is of use (any more)."""
    by_id = {segment.node_id: segment for segment in held}
    named = {"conversation_id": conversation_id} if node_id is None else {"node_id": node_id}
    row = session.row(
        queries.EXTEND if node_id is None else queries.EXTEND_NODE,
        **named,
        readers=list(readers),
        known=list(by_id),
        owners=sorted({owner for segment in held for owner, _ in segment.facts.owners}),
        unsettled=sorted(frozenset[str]().union(*(segment.facts.unsettled for segment in held))),
    )
    row = row or {"ids": []}
    top = by_id.get(row["ids"][-1]) if row["ids"] else None
    if top is not None and not (top.facts.owners <= owners_of(row) and top.facts.unsettled.isdisjoint(row["settled"])):
        session.held.forget(readers, top)
        return None
    return _context(session, row, conversation_id, node_id, top, readers)


def _context(
    session: Session,
    row: Row,
    conversation_id: str | None,
    node_id: str | None,
    top: Segment | None,
    readers: Readers,
) -> Context:
    """Build the context of a row of ``assemble`` or ``extend``; ``top`` is the held segment the climb ended at."""
    if conversation_id is not None and (row.get("conversation_id") is None or row["deleting"]):
        raise ConversationNotFound(conversation_id, session.workspace)
    ids: list[str] = row["ids"]
    if node_id is not None and not ids:
        raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
    compactions: dict[str, list[str]] = dict(row["compactions"])
    segment = top
    count = len(ids)
    if ids and top is None:
        check_top(ids, row["top_is_root"], compactions, readers)
    if count:
        segment = segments_of(row, top, compactions)
        session.held.put(readers, conversation_id, segment)
    return Context(
        segment=segment,
        new_items=items.NO_ITEMS,
        settings=settings_of(row),
        conversation_id=conversation_id,
        cursor=row["cursor"],
        version=row["version"],
        epoch=row["epoch"],
        owners=owners_of(row),
        readers=readers,
        held=0 if top is None else top.depth,
    )


def segments_of(row: Row, top: Segment | None, compactions: dict[str, list[str]]) -> Segment:
    """The chain of a row of ``assemble`` or ``extend``, below ``top`` if that is the end of its climb."""
    ids, sent, returned = row["ids"], row["sent"], row["returned"]
    if row["blobs"]:
        payloads = Payloads(dict(row["blobs"]))
        sent = [payloads.restored(text) for text in sent]
        returned = [text and payloads.restored(text) for text in returned]
    calls, results, owners = row["call_ids"], row["result_ids"], owners_of(row)
    exact = frozenset(row["exact"])
    last = len(ids) - 1
    segment = top
    # The lists are newest first; a held top is their last entry and is not built again.
    for place in range(last if top is None else last - 1, -1, -1):
        node = ids[place]
        plain = not (calls[place] or results[place] or node in exact or node in compactions)
        if plain and returned[place] is not None and segment is not None and segment is not top:
            # Nearly every node is like this one: it changes nothing of what holds for the path above it. (The first
            # below a held top isn't: that path may have had fewer owners.)
            segment = Segment(segment, node, sent[place], returned[place], segment.facts)
        elif node in compactions:
            # Only what a compaction returned is context, and that only where the climb ended at it.
            unfolded = place != last
            text, open_calls, open_results = (
                ("[]", None, None) if unfolded else (returned[place], calls[place], results[place])
            )
            segment = extended(segment, node, owners, "[]", text, open_calls, open_results, node in exact)
        else:
            segment = extended(
                segment, node, owners, sent[place], returned[place], calls[place], results[place], node in exact
            )
    assert segment is not None
    return segment


def check_top(ids: list[str], is_root: bool | None, compactions: dict[str, list[str]], readers: Readers) -> None:
    """A climb must end at a root or at a compaction its reader can read, else the path isn't whole (A5, K2)."""
    top = ids[-1]
    if top in compactions:
        allowed = compactions[top]
        if not any(reader in allowed for reader in readers):
            raise CompactionUnreadable(ids[0], top, tuple(allowed))
    elif not is_root:
        raise PathBroken(ids[0], top)


def owners_of(row: Row) -> Owners:
    """The conversations that own a path, each with how often data was removed from it."""
    return frozenset((owner, removals) for owner, removals in row["removals"])


def encode_new(new_items: ItemsInput | None) -> ItemText:
    """A call's own new items, encoded."""
    return items.NO_ITEMS if new_items is None else items.encode(new_items, role="user")
