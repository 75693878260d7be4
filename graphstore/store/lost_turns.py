"""Settling turns whose process died: whoever comes next does it (rule C6)."""

from __future__ import annotations

from collections.abc import Callable

from graphstore import queries
from graphstore.database import Row
from graphstore.errors import ConversationNotFound
from graphstore.fingerprint import new_id
from graphstore.store.session import Session


def settle(session: Session, conversation_id: str, turn_id: str) -> None:
    """Mark a dead turn's pending call lost and move the cursor to the turn's last node.

    Changes nothing when the turn was renewed, or settled by somebody else.
    """
    session.rows(
        queries.SETTLE_LOST_TURN,
        conversation_id=conversation_id,
        turn_id=turn_id,
        move_id=new_id(),
        actor=session.actor,
    )


def past_lost_turns(session: Session, conversation_id: str, write: Callable[[], Row | None]) -> Row:
    """Run a write; when a turn whose lease ran out is in the way, settle that turn and write again.

    Raises ``ConversationNotFound`` when the write finds no conversation (it gives no row).
    """
    while True:
        row = write()
        if row is None:
            raise ConversationNotFound(conversation_id, session.workspace)
        if row["outcome"] != "turn_expired":
            return row
        settle(session, conversation_id, row["turn_id"])
