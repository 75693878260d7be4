"""Deleting and clearing conversations, with what others stand on respected (rules X2, X3, X4)."""

from __future__ import annotations

from typing import Literal

from graphstore import queries
from graphstore.errors import ConversationNotFound, InvalidInput, NodesShared
from graphstore.fingerprint import new_id
from graphstore.models import RemovalReceipt
from graphstore.store.refusals import refuse
from graphstore.store.removal import Progress, Removal
from graphstore.store.session import Session

OnShared = Literal["keep", "refuse", "erase"]
ON_SHARED: tuple[OnShared, ...] = ("keep", "refuse", "erase")


def delete(
    session: Session,
    conversation_id: str,
    on_shared: OnShared,
    force: bool,
    progress: Progress,
    unchanged_since: str | None = None,
) -> RemovalReceipt:
    """Delete a conversation with its nodes and history; what others need is handed to them.

    With ``unchanged_since``, the time of its last change as ``read/retainable`` gave it, only if that is the last one
    still: raises ``ConversationChanged`` otherwise.
    """
    if on_shared not in ON_SHARED:
        raise InvalidInput(f"on_shared is one of {', '.join(ON_SHARED)}, not {on_shared!r}")
    row = session.row(
        queries.MARK_DELETING, conversation_id=conversation_id, force=force, unchanged_since=unchanged_since
    )
    if row is None:
        raise ConversationNotFound(conversation_id, session.workspace)
    if row["outcome"] != "ok":
        refuse(row, conversation_id=conversation_id, node_id=conversation_id)
    if on_shared == "refuse":
        needed = session.rows(queries.NEEDED_NODES, conversation_id=conversation_id)
        if needed:
            session.rows(queries.UNMARK_DELETING, conversation_id=conversation_id)
            raise NodesShared(conversation_id, tuple(row["conversation_id"] for row in needed))
    removal = Removal(session, conversation_id, erase=on_shared == "erase", progress=progress)
    while True:
        removal.all_moves()
        removal.all_of(queries.OWNED_NODES)
        last = session.row(queries.DELETE_CONVERSATION, conversation_id=conversation_id)
        if last is None or last["left"] == 0:
            return removal.receipt()


def finish(session: Session, conversation_id: str, deleting: bool) -> bool:
    """Remove what an interrupted deletion or clear left; false when whoever began it must say how.

    Whether what others stand on was to be erased is known to that caller alone: then nothing is done.
    """
    if not deleting:
        Removal(session, conversation_id).all_of(queries.CLEARED_NODES)
        return True
    if session.rows(queries.NEEDED_NODES, conversation_id=conversation_id):
        return False
    delete(session, conversation_id, "refuse", True, lambda _: None)
    return True


def clear(session: Session, conversation_id: str, force: bool, progress: Progress) -> RemovalReceipt:
    """Empty a conversation at once, then remove what it held (also what an interrupted clear left)."""
    row = session.row(
        queries.CLEAR, conversation_id=conversation_id, force=force, move_id=new_id(), actor=session.actor
    )
    if row is None:
        raise ConversationNotFound(conversation_id, session.workspace)
    if row["outcome"] not in {"ok", "repeated"}:
        refuse(row, conversation_id=conversation_id, node_id=conversation_id)
    removal = Removal(session, conversation_id, progress=progress)
    removal.all_of(queries.CLEARED_NODES)
    return removal.receipt()
