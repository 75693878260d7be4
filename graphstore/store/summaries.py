"""Summaries of branches that were left (rule W6): shown beside them, and never part of a context."""

from __future__ import annotations

from graphstore import fingerprint, jsontext, queries
from graphstore.errors import InvalidInput, NodeNotFound
from graphstore.models_branches import BranchSummary
from graphstore.store import checking, conversations
from graphstore.store.session import Session


class Summaries:
    """What branches were about: ``store.summaries``."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def attach(self, node_id: str, text: str, *, by: str | None = None) -> None:
        """Attach a summary to the branch that begins at a node, in place of an earlier one; again changes nothing.

        ``by`` is recorded (default: the store's actor). Raises ``NodeNotFound`` (hidden ones too), ``InvalidInput``.
        """
        if not checking.text(text, "a summary"):
            raise InvalidInput("a summary is a text that says something; to take one away use store.summaries.remove")
        actor = checking.text(by, "who summarizes") or self._session.actor
        row = self._session.row(
            queries.ATTACH_SUMMARY,
            node_id=node_id,
            summary_id=id_of(node_id),
            text=jsontext.shield(text),
            actor=None if actor is None else jsontext.shield(actor),
        )
        if row is None:
            raise NodeNotFound(node_id, f"the branches of workspace {self._session.workspace!r} that are to be seen")

    def remove(self, node_id: str) -> bool:
        """Take the summary off the branch that begins at a node; returns whether it had one."""
        row = self._session.row(queries.REMOVE_SUMMARY, summary_id=id_of(node_id))
        return row is not None and row["removed"] > 0

    def of(self, conversation_id: str) -> list[BranchSummary]:
        """The summaries of a conversation's branches, oldest first; not those of hidden ones.

        Raises ``ConversationNotFound``.
        """
        rows = self._session.rows(queries.SUMMARIES, conversation_id=conversation_id)
        if not rows:
            conversations.get(self._session, conversation_id)
        return [
            BranchSummary(
                node_id=row["node_id"],
                text=jsontext.unshield(row["s"]["text"]),
                by=None if row["s"].get("actor") is None else jsontext.unshield(row["s"]["actor"]),
                created_at=row["s"]["created_at"].to_native(),
            )
            for row in rows
        ]


def id_of(node_id: str) -> str:
    """The id of the one summary of the branch that begins at a node."""
    return fingerprint.derived_id("summary", node_id)
