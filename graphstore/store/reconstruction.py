"""What a model saw, and what a user saw at a time (rules R1, R2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from graphstore import items, jsontext, queries
from graphstore.context import Context
from graphstore.database import Row
from graphstore.errors import ConversationNotFound, NodeNotFound, PathBroken
from graphstore.models import SawByUser
from graphstore.segments import Segment, extended
from graphstore.store import assembly
from graphstore.store.reading import bubble_of
from graphstore.store.session import Session, steady
from graphstore.store.settings import settings_of
from graphstore.window import narrowed

Verdict = Literal["same", "different", "unrecorded"]


@dataclass(frozen=True)
class SawByModel:
    """What the model of a call saw: ``context``, put together again as it was when the call was made.

    ``context`` ends with what the call sent itself. ``late`` are nodes of the path whose answers came only after the
    call had begun, and are left out; ``erased`` are those whose content was blanked since. ``recorded_hash`` is the
    fingerprint that the call stored; ``None`` for imports and compactions, which store none.
    """

    node_id: str
    context: Context
    provider: str | None
    model: str | None
    parameters: dict[str, Any] | None
    recorded_hash: str | None
    late: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether ``context`` is what was sent: ``same`` or ``different`` by its fingerprint, or ``unrecorded``."""
        if self.recorded_hash is None:
            return "unrecorded"
        return "same" if self.context.hash == self.recorded_hash else "different"


def by_model(session: Session, node_id: str) -> SawByModel:
    """The context of a call as it was made."""
    return steady(lambda: _by_model(session, node_id))


def _by_model(session: Session, node_id: str) -> SawByModel:
    call = session.row(queries.CALL_AS_MADE, node_id=node_id)
    if call is None:
        raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
    late = frozenset(call["late"])
    recorded: str | None = call["context_hash"]
    if call["is_compaction"]:
        late, context = frozenset(), _of_compaction(session, call, node_id)
    else:
        row, readers = _path(session, call, node_id)
        context = _as_made(session, row, call, readers)
        if late and recorded is not None and context.hash != recorded:
            context = _as_made(session, _without_answers(row, late), call, readers)
        else:
            late = frozenset()
    return SawByModel(
        node_id=node_id,
        context=assembly.with_reasons(session, context),
        provider=call["provider"],
        model=call["model"],
        parameters=None if call["parameters"] is None else jsontext.loads_exact(call["parameters"]),
        recorded_hash=recorded,
        late=tuple(node for node in context.nodes if node in late),
        erased=tuple(reversed(call["erased"])),
    )


def _path(session: Session, call: Row, node_id: str) -> tuple[Row, list[str]]:
    """The climb from the call up, read by the names under which it read compactions, without its own answer."""
    options = {} if call["options"] is None else jsontext.loads(call["options"])
    readers: list[str] = options.get("readers", ["*"])
    row = session.row(queries.ASSEMBLE, conversation_id=None, node_id=node_id, readers=readers)
    if row is None or not row["ids"]:
        raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
    return _without_answers(row, frozenset({node_id})), readers


def _without_answers(row: Row, nodes: frozenset[str]) -> Row:
    """A row of ``assemble`` in which some nodes have returned nothing."""
    row = {**row, **{name: list(row[name]) for name in ("returned", "call_ids", "result_ids")}}
    for place, node_id in enumerate(row["ids"]):
        if node_id in nodes:
            sent = items.encode(items.decode(row["sent"][place], exact=node_id in row["exact"]), role="user")
            row["returned"][place] = None
            row["call_ids"][place], row["result_ids"][place] = list(sent.call_ids), list(sent.result_ids)
    return row


def _as_made(session: Session, row: Row, call: Row, readers: list[str]) -> Context:
    compactions: dict[str, list[str]] = dict(row["compactions"])
    assembly.check_top(row["ids"], row["top_is_root"], compactions, tuple(readers))
    settings = settings_of({**row, **{name: call[name] for name in ("response_format", "response_format_hash")}})
    options = {} if call["options"] is None else jsontext.loads(call["options"])
    segment = _windowed(assembly.segments_of(row, None, compactions), options)
    context = Context(segment, items.NO_ITEMS, settings, provider=call["provider"], model=call["model"])
    chosen = options.get("reasoning")
    if chosen is None:
        return context
    return assembly.with_origins(session, context, chosen["provider"], chosen["model"], chosen["policy"])


def _windowed(segment: Segment, options: dict[str, Any]) -> Segment:
    """The part of the path that the call was limited to, as it recorded it."""
    window = options.get("window")
    if window is None:
        return segment
    line = segment.line()
    # Of an empty path nothing was named: then the call stands alone.
    first = window["first_node_id"] or segment.node_id
    place = next((place for place, one in enumerate(line) if one.node_id == first), 0)
    return narrowed(line, place)


def _of_compaction(session: Session, call: Row, node_id: str) -> Context:
    """What a summarising call sent stands on nothing: it is all that its model saw."""
    exact = call["exact"]
    text = session.payloads([call["sent"]]).restored(call["sent"])
    sent = items.encode(items.decode(text, exact=exact), role="user")
    segment = extended(None, node_id, frozenset(), text, "[]", list(sent.call_ids), list(sent.result_ids), exact)
    return replace(Context(segment, items.NO_ITEMS), provider=call["provider"], model=call["model"])


def by_user(session: Session, conversation_id: str, at: datetime) -> SawByUser:
    """The path that was the cursor's at a time, with the bubbles that it had then."""
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    # The database counts nanoseconds, and a time that was read from it is cut to microseconds: take in all of that one.
    until = at + timedelta(microseconds=1)
    row = session.row(queries.SCREEN_THEN, conversation_id=conversation_id, until=until)
    if row is None:
        raise ConversationNotFound(conversation_id, session.workspace)
    if row["top_id"] is not None and not row["top_is_whole"]:
        raise PathBroken(row["node_id"], row["top_id"])
    return SawByUser(
        conversation_id=conversation_id,
        at=at,
        node_id=row["node_id"],
        path=tuple(reversed(row["path"])),
        bubbles=tuple(bubble_of(bubble) for bubble in reversed(row["page"])),
        gone=row["node_id"] is not None and not row["path"],
        erased=tuple(reversed(row["erased"])),
    )
