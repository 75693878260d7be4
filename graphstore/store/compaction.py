"""Compaction: a node with no parent that stands for a path, linked to its original (rules K1 to K4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphstore import items, jsontext, queries
from graphstore.database import Row
from graphstore.errors import InvalidInput
from graphstore.fingerprint import new_id
from graphstore.items import ItemsInput
from graphstore.models import NodeKind, Usage
from graphstore.pairing import pair
from graphstore.store import lost_turns, writing
from graphstore.store.conversations import check_id
from graphstore.store.refusals import refuse
from graphstore.store.session import Session


def original_of(session: Session, compaction_id: str | None) -> str | None:
    """What a compaction that is there already was made of: repeated, it must not be taken for one of itself."""
    row = None if compaction_id is None else session.row(queries.NODE, node_id=compaction_id)
    original_id: str | None = None if row is None else row["compacts_id"]
    return original_id


def write(
    session: Session,
    conversation_id: str,
    *,
    original_id: str,
    epoch: int,
    returned: ItemsInput,
    sent: ItemsInput = (),
    readers: Sequence[str] = ("*",),
    provider: str | None = None,
    model: str | None = None,
    usage: Usage | dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    id: str | None = None,
    turn_id: str | None = None,
    exclusive: bool = True,
    lease_ms: int = 0,
) -> str:
    """Write a compaction of the path that ends at ``original_id``; returns its id.

    Without ``turn_id`` the cursor moves to it, if it is still at the original. Raises ``CursorMoved``,
    ``TurnInProgress``, ``TurnLost``, ``CallInProgress``, ``ConversationGone``, ``InvalidInput``.
    """
    if isinstance(readers, str) or not readers or not all(isinstance(reader, str) for reader in readers):
        raise InvalidInput("readers is a list of providers or models, or ['*'] for everyone")
    sent_text = items.encode(sent, role="user")
    returned_text = items.encode(returned, role="user")
    if not returned_text.count:
        raise InvalidInput("a compaction returns the compacted context: pass at least one item")
    compaction_id = id or new_id()
    check_id(compaction_id, "node id")
    node = writing.sent_properties(
        workspace=session.workspace,
        conversation_id=conversation_id,
        node_id=compaction_id,
        kind=NodeKind.COMPACTION,
        turn_id=turn_id or compaction_id,
        round=0,
        is_root=False,
        sent=sent_text,
        settings={},
        context_hash=None,
        provider=provider,
        model=model,
        metadata=metadata,
    )
    node |= writing.succeeded_properties(items.NO_ITEMS, returned_text, usage)
    # It may return calls beside their results: only what is left unpaired matters to what comes after.
    pairing = pair(items.decode(returned_text.text, exact=returned_text.exact))
    unpaired = {"call_ids": pairing.dropped_calls, "result_ids": pairing.dropped_results}
    for name, dropped in unpaired.items():
        node.pop(name, None)
        if dropped:
            node[name] = [jsontext.shield(call_id) for _, call_id in dropped]
    node["readers"] = list(readers)
    node, blobs = writing.lightened(session, node)

    def attempt() -> Row | None:
        return session.row(
            queries.COMPACT,
            conversation_id=conversation_id,
            node=node,
            blobs=blobs,
            node_id=compaction_id,
            original_id=original_id,
            exact=sent_text.exact or returned_text.exact,
            epoch=epoch,
            turn_id=turn_id,
            exclusive=exclusive,
            lease_ms=lease_ms,
            move_id=new_id(),
            actor=session.actor,
        )

    row = lost_turns.past_lost_turns(session, conversation_id, attempt)
    if row["outcome"] not in {"ok", "repeated"}:
        refuse(
            row,
            conversation_id=conversation_id,
            node_id=compaction_id,
            target_id=original_id,
            expected=original_id,
            turn_id=turn_id,
        )
    return compaction_id
