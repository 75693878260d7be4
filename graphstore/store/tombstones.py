"""Hiding branches and showing them again (rule S6)."""

from __future__ import annotations

from graphstore import queries
from graphstore.errors import BranchInUse, InvalidInput, NodeNotFound
from graphstore.models import RemovalReceipt, Tombstone
from graphstore.store import conversations, lost_turns, reading, removal
from graphstore.store.session import Session


def tombstone(session: Session, node_id: str) -> int:
    """Hide the branch that begins at a node; returns how many nodes that newly hides."""
    hidden = 0
    while True:
        row = session.row(queries.TOMBSTONE, node_id=node_id)
        if row is None:
            raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
        if row["outcome"] == "below":
            raise InvalidInput(
                f"node {node_id!r} is a later call of its turn, and a branch begins with a turn's first: "
                f"name {row['first_id']!r}"
            )
        expired = [(conversation, turn) for conversation, turn, over in row["turns"] if over]
        for conversation, turn in expired:
            lost_turns.settle(session, conversation, turn)
        if expired:
            continue
        if row["outcome"] != "ok":
            raise BranchInUse(node_id, tuple(row["cursors"]), tuple(turn[0] for turn in row["turns"]))
        newly: int = row["hidden"]
        hidden += newly
        if newly == 0:  # nobody appended while the branch was being hidden
            return hidden


def restore(session: Session, node_id: str) -> int:
    """Show a hidden branch again; returns how many nodes its tombstone had hidden."""
    row = session.row(queries.RESTORE, node_id=node_id)
    if row is None:
        raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
    restored: int = row["restored"]
    return restored


def tombstones(session: Session, conversation_id: str) -> list[Tombstone]:
    """The hidden branches of a conversation, newest tombstone first."""
    rows = session.rows(queries.TOMBSTONES, conversation_id=conversation_id)
    if not rows:
        conversations.get(session, conversation_id)
    return [reading.tombstone_of(row) for row in rows]


def purge(session: Session, node_id: str) -> RemovalReceipt:
    """Remove a hidden branch for good."""
    node = conversations.node(session, node_id)
    if node.tombstone != node_id:
        raise InvalidInput(
            f"node {node_id!r} carries no tombstone"
            + (f" of its own ({node.tombstone!r} hides it)" if node.tombstone else "")
            + "; only a hidden branch can be purged: tombstone it first"
        )
    return removal.purge(session, node.conversation_id, node_id)
