"""Branching: edit, regenerate, correct, switch, fork; markers and unseen branches (rules B, C3, X1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphstore import items, jsontext, queries
from graphstore.database import Row
from graphstore.errors import ConversationNotFound, CursorMoved, IdConflict, InvalidInput, NodeNotFound
from graphstore.fingerprint import new_id
from graphstore.items import ItemDict, ItemsInput
from graphstore.models import Marker, NodeKind, Reason
from graphstore.store import checking, lost_turns, spots, writing
from graphstore.store.conversations import check_id
from graphstore.store.refusals import refuse
from graphstore.store.session import Session
from graphstore.store.settings import CallOptions
from graphstore.store.turns import Turn

WINDOW = 50
"""At most so many sibling ids are given with a marker."""


def edit(
    session: Session,
    turn: Turn,
    node_id: str | None,
    question: str | Mapping[int, ItemDict],
    unfold: bool,
    options: CallOptions,
) -> Turn:
    """Begin ``turn`` beside the turn of ``node_id``, with its question replaced."""
    spot = spots.find(session, turn.conversation_id, node_id, unfold)
    turn.begin_at(spot, Reason.EDIT, spot.edited(question), spot.settings, options)
    return turn


def regenerate(session: Session, turn: Turn, node_id: str | None, unfold: bool, options: CallOptions) -> Turn:
    """Begin ``turn`` beside the turn of ``node_id``, with the same sent items; provider and model stay unless given."""
    spot = spots.find(session, turn.conversation_id, node_id, unfold)
    if "model" not in options and "provider" not in options:
        options = {**options, "provider": spot.provider, "model": spot.model}
    turn.begin_at(spot, Reason.REGENERATE, spot.unchanged(), spot.settings, options)
    return turn


def correct(
    session: Session,
    conversation_id: str,
    node_id: str | None,
    returned: ItemsInput,
    metadata: dict[str, Any] | None,
    corrected_id: str | None,
    unfold: bool,
) -> str:
    """A person's correction: a sibling with the same sent items and other returned ones; the cursor moves to it."""
    spot = spots.find(session, conversation_id, node_id, unfold)
    sent, encoded = spot.unchanged(), items.encode(returned, role="assistant")
    new_node_id = corrected_id or new_id()
    check_id(new_node_id, "node id")
    node = writing.sent_properties(
        workspace=session.workspace,
        conversation_id=conversation_id,
        node_id=new_node_id,
        kind=NodeKind.TURN,
        turn_id=new_node_id,
        round=0,
        is_root=spot.parent_id is None,
        sent=sent,
        settings=spot.hashes,
        context_hash=spot.context_hash,
        author="person",
        options=spot.options,
        metadata=metadata,
    )
    node |= writing.succeeded_properties(sent, encoded)
    node, blobs = writing.lightened(session, node)

    def write() -> Row | None:
        return session.row(
            queries.RECORD_CALL,
            conversation_id=conversation_id,
            node=node,
            blobs=blobs,
            node_id=new_node_id,
            parent_id=spot.parent_id,
            expected=spot.cursor,
            epoch=spot.epoch,
            exact=sent.exact or encoded.exact,
            move_id=new_id(),
            reason=Reason.CORRECT.value,
            actor=session.actor,
            keep=False,
            same_turn=False,
            settings=[],
        )

    row = lost_turns.past_lost_turns(session, conversation_id, write)
    if row["outcome"] not in {"ok", "repeated"}:
        refuse(
            row,
            conversation_id=conversation_id,
            node_id=new_node_id,
            target_id=spot.parent_id,
            expected=spot.cursor,
        )
    return new_node_id


ANYWHERE = object()


def switch(session: Session, conversation_id: str, node_id: str, expected: Any = ANYWHERE) -> str:
    """Move the cursor to the end of the branch at ``node_id``; returns that end."""

    def write() -> Row | None:
        end = session.row(queries.BRANCH_END, conversation_id=conversation_id, node_id=node_id)
        if end is None:
            raise ConversationNotFound(conversation_id, session.workspace)
        if end["leaf_id"] is None:
            raise NodeNotFound(node_id, f"conversation {conversation_id!r}")
        before = end["cursor"] if expected is ANYWHERE else expected
        row = session.row(
            queries.MOVE_CURSOR,
            conversation_id=conversation_id,
            target_id=end["leaf_id"],
            expected=before,
            epoch=end["epoch"],
            move_id=operation_id,
            reason=Reason.SWITCH.value,
            actor=session.actor,
            turn_id=None,
            exclusive=True,
        )
        return row and {**row, "leaf_id": end["leaf_id"], "expected": before}

    operation_id = new_id()
    row = lost_turns.past_lost_turns(session, conversation_id, write)
    if row["outcome"] in {"refused", "refused_before"}:
        raise CursorMoved(conversation_id, row["expected"], row["cursor"], None)
    if row["outcome"] not in {"ok", "unchanged", "repeated"}:
        refuse(row, conversation_id=conversation_id, node_id=node_id, target_id=row["leaf_id"])
    leaf: str = row["leaf_id"]
    return leaf


def fork(
    session: Session, node_id: str, conversation_id: str | None, title: str | None, metadata: dict[str, Any] | None
) -> str:
    """Start a conversation at ``node_id``; returns its id."""
    fork_id = new_id() if conversation_id is None else conversation_id
    check_id(fork_id, "conversation id")
    check_id(node_id, "node id")
    row = session.row(
        queries.FORK,
        node_id=node_id,
        conversation_id=fork_id,
        title=None if checking.text(title, "a title") is None else jsontext.shield(title or ""),
        metadata=jsontext.dumps(checking.json_object(metadata, "metadata") or {}),
        operation_id=fork_id,
        actor=session.actor,
    )
    if row is None or row["outcome"] == "gone":
        raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
    if row["outcome"] == "conflict":
        raise IdConflict("conversation", fork_id)
    return fork_id


def markers(session: Session, conversation_id: str, node_id: str | None) -> list[Marker]:
    """A marker for each turn on the history path, root first."""
    rows = session.rows(queries.MARKERS, conversation_id=conversation_id, node_id=node_id, window=WINDOW)
    if not rows:
        if session.row(queries.CONVERSATION, conversation_id=conversation_id) is None:
            raise ConversationNotFound(conversation_id, session.workspace)
        if node_id is not None and session.row(queries.NODE, node_id=node_id) is None:
            raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
    return [marker_of(row) for row in rows]


def marker_of(row: Row) -> Marker:
    """A turn's marker from a row of ``read/markers``."""
    standing = row["standing"]
    if standing["position"] is None:
        raise InvalidInput(f"node {row['node_id']!r} was removed from view and has no place among its siblings")
    return Marker(node_id=row["node_id"], turn_id=row["turn_id"], **standing)
