"""The outcomes that write statements report, as errors. One table, so that every verb refuses alike."""

from __future__ import annotations

from typing import NoReturn

from graphstore.database import Row
from graphstore.errors import (
    CallInProgress,
    ConversationChanged,
    ConversationGone,
    CursorMoved,
    IdConflict,
    NodeNotFound,
    RoundTaken,
    TurnInProgress,
    TurnLost,
)


def refuse(
    row: Row,
    *,
    conversation_id: str,
    node_id: str,
    target_id: str | None = None,
    expected: str | None = None,
    turn_id: str | None = None,
    kept: str | None = None,
) -> NoReturn:
    """Raise the error of ``row["outcome"]``.

    ``node_id`` is what was being written, ``target_id`` what it was to stand on or the cursor was to move to.
    """
    match row["outcome"]:
        case "gone":
            raise ConversationGone(conversation_id)
        case "changed":
            raise ConversationChanged(conversation_id)
        case "conflict":
            raise IdConflict("node", node_id)
        case "no_parent" | "no_target" | "no_original":
            raise NodeNotFound(target_id or node_id, f"conversation {conversation_id!r} (or it was removed)")
        case "turn_in_progress":
            until = row["turn_expires_at"].to_native()
            raise TurnInProgress(conversation_id, row["turn_id"], row["turn_owner"], until)
        case "turn_lost":
            raise TurnLost(conversation_id, turn_id or "")
        case "call_in_progress":
            raise CallInProgress(turn_id or "", target_id or "")
        case "round_taken":
            raise RoundTaken(turn_id or "", target_id or "", row["turn_node_id"])
        case "moved" | "refused" | "refused_before" | "kept":
            raise CursorMoved(conversation_id, expected, row["cursor"], kept)
        case outcome:
            raise AssertionError(f"a write statement reported the unknown outcome {outcome!r}")
