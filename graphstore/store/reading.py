"""Rows of the database as models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from graphstore import items, jsontext
from graphstore.database import Row
from graphstore.models import (
    Bubble,
    CachedResult,
    CachedTool,
    Conversation,
    ConversationSummary,
    Effect,
    Fact,
    Failure,
    Move,
    Node,
    RunningTurn,
    Tombstone,
    UnseenBranch,
    Usage,
)
from graphstore.payloads import Payloads


def texts_of(stored: Iterable[Mapping[str, Any]]) -> Iterator[str | None]:
    """The texts of nodes that may refer to payloads."""
    for node in stored:
        yield node["sent"]
        yield node.get("returned")


def time_of(value: Any) -> datetime | None:
    """A driver's time as a ``datetime``; ``None`` stays."""
    return None if value is None else value.to_native()


def _text(value: str | None) -> str | None:
    return None if value is None else jsontext.unshield(value)


def _json(value: str | None) -> dict[str, Any]:
    return {} if value is None else jsontext.loads_exact(value)


def node_of(
    stored: Mapping[str, Any],
    labels: frozenset[str],
    parent_id: str | None,
    compacts_id: str | None,
    payloads: Payloads,
) -> Node:
    """A node from its stored properties and the payloads that these refer to."""
    exact = "ExactText" in labels
    failed = stored["status"] == "failed"
    usage = stored.get("usage")
    return Node(
        id=stored["id"],
        conversation_id=stored["conversation_id"],
        parent_id=parent_id,
        compacts_id=compacts_id,
        kind=stored["kind"],
        status=stored["status"],
        turn_id=stored["turn_id"],
        round=stored["round"],
        sent=items.decode(payloads.restored(stored["sent"]), exact=exact),
        returned=items.decode(payloads.restored(stored.get("returned") or "[]"), exact=exact),
        partial=items.decode(stored.get("partial") or "[]", exact=True),
        finish_reason=stored.get("finish_reason"),
        failure=Failure(kind=stored["failure_kind"], message=_text(stored.get("failure_message")) or "")
        if failed
        else None,
        provider=stored.get("provider"),
        model=stored.get("model"),
        usage=None if usage is None else Usage.model_validate(jsontext.loads(usage)),
        author=stored["author"],
        created_at=stored["created_at"].to_native(),
        finished_at=time_of(stored.get("finished_at")),
        deleted_at=time_of(stored.get("deleted_at")),
        tombstone=stored.get("tombstone"),
        system_hash=stored.get("system_hash"),
        tools_hash=stored.get("tools_hash"),
        response_format_hash=stored.get("response_format_hash"),
        parameters_hash=stored.get("parameters_hash"),
        context_hash=stored.get("context_hash"),
        response_id=stored.get("response_id"),
        readers=tuple(stored.get("readers") or ()),
        options=_json(stored.get("options")),
        metadata=_json(stored.get("metadata")),
    )


def conversation_of(row: Row, workspace: str) -> Conversation:
    """A conversation from a row of ``read/conversation``; a turn whose lease ran out counts as not running."""
    turn = None
    if row["turn_id"] is not None and not row["turn_expired"]:
        turn = RunningTurn(
            turn_id=row["turn_id"],
            owner=row["turn_owner"],
            expires_at=row["turn_expires_at"].to_native(),
            node_id=row["turn_node_id"],
        )
    return Conversation(
        id=row["id"],
        workspace=workspace,
        title=_text(row["title"]),
        created_at=row["created_at"].to_native(),
        updated_at=row["updated_at"].to_native(),
        version=row["version"],
        epoch=row["epoch"],
        cursor=row["cursor"],
        source=row["source"],
        source_id=_text(row["source_id"]),
        forked_from=row["forked_from"],
        forked_at=row["forked_at"],
        turn=turn,
        metadata=_json(row["metadata"]),
    )


def summary_of(row: Row) -> ConversationSummary:
    """A line of a listing."""
    return ConversationSummary(
        id=row["id"],
        title=_text(row["title"]),
        source=row["source"],
        source_id=_text(row["source_id"]),
        nodes=row["nodes"],
        branches=row["branches"],
        cursor=row["cursor"],
        forked_from=row["forked_from"],
        created_at=row["created_at"].to_native(),
        updated_at=row["updated_at"].to_native(),
    )


def move_of(row: Row) -> Move:
    """One recorded move."""
    return Move(**{**row, "at": row["at"].to_native()})


def bubble_of(shown: Mapping[str, Any]) -> Bubble:
    """A bubble of a page."""
    content = jsontext.loads_exact(shown["content"])
    return Bubble(**{**shown, "content": content, "created_at": shown["created_at"].to_native()})


def unseen_of(row: Row) -> UnseenBranch:
    """One unseen branch."""
    return UnseenBranch(
        node_id=row["node_id"],
        turn_id=row["turn_id"],
        created_at=row["created_at"].to_native(),
        refused_at=row["refused_at"].to_native(),
    )


def tombstone_of(row: Row) -> Tombstone:
    """A hidden branch."""
    return Tombstone(node_id=row["node_id"], nodes=row["nodes"], deleted_at=row["deleted_at"].to_native())


def effect_of(row: Row) -> Effect:
    """An effect with the node that proposed it."""
    stored = row["e"]
    compensation = stored.get("compensation")
    return Effect(
        id=stored["id"],
        node_id=row["node_id"],
        conversation_id=row["conversation_id"],
        name=stored["name"],
        arguments=_json(stored["arguments"]),
        reversible=stored["reversible"],
        compensation=None if compensation is None else _json(compensation),
        status=stored["status"],
        on_path=row["on_path"],
        proposed_at=stored["proposed_at"].to_native(),
        decided_by=stored.get("decided_by"),
        decided_at=time_of(stored.get("decided_at")),
        worker=stored.get("worker"),
        claim_id=stored.get("claim_id"),
        claimed_at=time_of(stored.get("claimed_at")),
        result=_value(stored.get("result")),
        finished_at=time_of(stored.get("finished_at")),
        compensation_result=_value(stored.get("compensation_result")),
        compensated_at=time_of(stored.get("compensated_at")),
    )


def _value(text: str | None) -> Any:
    return None if text is None else jsontext.loads_exact(text)


def cached_result_of(stored: Mapping[str, Any], payloads: Payloads) -> CachedResult:
    """A cached result from its stored properties."""
    return CachedResult(
        name=stored["name"],
        scope=stored["scope"],
        output=_value(payloads.restored(stored["output"])),
        created_at=stored["created_at"].to_native(),
        expires_at=time_of(stored.get("expires_at")),
        hits=stored["hits"],
    )


def cached_tool_of(row: Row) -> CachedTool:
    """A line of the cache's statistics."""
    expires = row.pop("expires_ms")
    return CachedTool(**row, expires=None if expires is None else timedelta(milliseconds=expires))


def fact_of(stored: Mapping[str, Any], node_id: str) -> Fact:
    """A fact with the node that derived it."""
    return Fact(
        key=stored["key"],
        value=_value(stored["value"]),
        node_id=node_id,
        outside=_value(stored.get("outside")),
        created_at=stored["created_at"].to_native(),
    )
