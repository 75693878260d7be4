"""Feedback on nodes: up, down, a score, a text; by whom and when (rule W2)."""

from __future__ import annotations

import math
from typing import Any, Literal

from graphstore import fingerprint, jsontext, queries
from graphstore.database import Row
from graphstore.errors import IdConflict, InvalidInput, NodeNotFound
from graphstore.models_branches import Feedback
from graphstore.store import checking, conversations
from graphstore.store.session import Session


class FeedbackGiven:
    """The feedback of a workspace: ``store.feedback``. Several people may say something about one node."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def give(
        self,
        node_id: str,
        *,
        rating: Literal["up", "down"] | None = None,
        score: float | None = None,
        text: str | None = None,
        by: str | None = None,
        id: str | None = None,
    ) -> str:
        """Record what somebody (``by``; default: the store's actor) thinks of a node; returns the feedback's id.

        At least one of ``rating``, ``score`` (any finite number) and ``text``. The same again with its ``id`` changes
        nothing. Raises ``NodeNotFound`` (hidden ones too), ``IdConflict``, ``InvalidInput``.
        """
        feedback_id = fingerprint.new_id() if id is None else id
        conversations.check_id(feedback_id, "feedback id")
        given = _checked(rating, score, text, self._session.actor if by is None else by)
        given["given_hash"] = fingerprint.content_hash(given)
        row = self._session.row(queries.GIVE_FEEDBACK, node_id=node_id, feedback_id=feedback_id, feedback=given)
        if row is None:
            raise NodeNotFound(node_id, f"the branches of workspace {self._session.workspace!r} that are to be seen")
        if row["outcome"] == "conflict":
            raise IdConflict("feedback", feedback_id)
        return feedback_id

    def of(self, conversation_id: str) -> list[Feedback]:
        """The feedback on the nodes a conversation owns, in the order it was given; not that on hidden branches.

        Raises ``ConversationNotFound``.
        """
        rows = self._session.rows(queries.FEEDBACK, conversation_id=conversation_id, node_id=None)
        if not rows:
            conversations.get(self._session, conversation_id)
        return [_feedback_of(row) for row in rows]

    def on(self, node_id: str) -> list[Feedback]:
        """The feedback on one node. Raises ``NodeNotFound``."""
        rows = self._session.rows(queries.FEEDBACK, conversation_id=None, node_id=node_id)
        if not rows:
            conversations.node(self._session, node_id)
        return [_feedback_of(row) for row in rows]

    def withdraw(self, feedback_id: str) -> bool:
        """Take feedback back, for good; returns whether it was there."""
        row = self._session.row(queries.WITHDRAW_FEEDBACK, feedback_id=feedback_id)
        return row is not None and row["withdrawn"] > 0


def _checked(rating: Any, score: Any, text: Any, by: Any) -> dict[str, Any]:
    if rating not in {None, "up", "down"}:
        raise InvalidInput(f"a rating is 'up' or 'down', not {rating!r:.60}")
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float) or not _finite(score)):
        raise InvalidInput(f"a score is a finite number, not {score!r:.60}")
    if rating is None and score is None and text is None:
        raise InvalidInput("feedback says something: pass a rating, a score or a text")
    optional = {
        "rating": rating,
        "score": None if score is None else float(score),
        "text": None if checking.text(text, "a feedback's text") is None else jsontext.shield(text),
        "by": None if checking.text(by, "who gives feedback") is None else jsontext.shield(by),
    }
    return {name: value for name, value in optional.items() if value is not None}


def _finite(score: float) -> bool:
    try:
        return math.isfinite(score)
    except OverflowError:  # an integer beyond a double
        return False


def _feedback_of(row: Row) -> Feedback:
    stored = row["f"]
    text, by = stored.get("text"), stored.get("by")
    return Feedback(
        id=stored["id"],
        node_id=row["node_id"],
        conversation_id=row["conversation_id"],
        rating=stored.get("rating"),
        score=stored.get("score"),
        text=None if text is None else jsontext.unshield(text),
        by=None if by is None else jsontext.unshield(by),
        created_at=stored["created_at"].to_native(),
    )
