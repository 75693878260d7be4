"""Derived state: what a node's turn found out or wrote elsewhere, read along the path that led to it (rule T4)."""

from __future__ import annotations

from typing import Any

from graphstore import fingerprint, jsontext, queries
from graphstore.errors import ConversationNotFound, IdConflict, InvalidInput, NodeNotFound, PathBroken
from graphstore.models import Fact
from graphstore.store import conversations, reading
from graphstore.store.session import Session


class DerivedState:
    """Facts, form values, memory writes of a workspace: ``store.state``."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def write(self, node_id: str, key: str, value: Any, *, outside: Any = None) -> None:
        """Record that ``node_id`` derived ``value`` (any JSON value) for ``key``; the same again changes nothing.

        ``outside`` says where it was written outside the store as well, in words of your own (any JSON value but null).
        Raises ``NodeNotFound``, and ``IdConflict`` when that node has another value for the key.
        """
        conversations.check_id(key, "key")
        fact = {"key": key, "value": jsontext.dumps(value)}
        if outside is not None:
            fact["outside"] = jsontext.dumps(outside)
        fact["value_hash"] = fingerprint.content_hash(fact)
        row = self._session.row(
            queries.WRITE_STATE, node_id=node_id, fact_id=fingerprint.derived_id("fact", node_id, key), fact=fact
        )
        if row is None:
            raise NodeNotFound(node_id, f"the branches of workspace {self._session.workspace!r} that are to be seen")
        if row["outcome"] == "conflict":
            raise IdConflict("the value of key", key)

    def read(self, conversation_id: str | None = None, *, node_id: str | None = None) -> dict[str, Fact]:
        """What holds at a conversation's cursor, or at a node: of each key the value its nearest writer gave it.

        Only nodes on the history path count, so a branch never sees what another derived. Raises
        ``ConversationNotFound``, ``NodeNotFound``, ``PathBroken``.
        """
        if (conversation_id is None) == (node_id is None):
            raise InvalidInput("name either a conversation or a node (node_id=…)")
        row = self._session.row(queries.STATE, conversation_id=conversation_id, node_id=node_id) or {}
        if conversation_id is not None and row["conversation_id"] is None:
            raise ConversationNotFound(conversation_id, self._session.workspace)
        if node_id is not None and row["named_id"] is None:
            raise NodeNotFound(node_id, f"workspace {self._session.workspace!r}")
        if not row["whole"]:
            raise PathBroken(row["node_id"], row["top_id"])
        return {stored["key"]: reading.fact_of(stored, at) for stored, at in row["facts"]}

    def left_behind(self, conversation_id: str, *, from_node: str | None = None) -> list[Fact]:
        """What branches that the conversation has left had written outside, oldest first.

        With ``from_node`` only those of the path that ends there, such as the node a switch came from.
        """
        rows = self._session.rows(queries.STATE_LEFT_BEHIND, conversation_id=conversation_id, node_id=from_node)
        if not rows:
            conversations.get(self._session, conversation_id)
        if from_node is not None:
            conversations.node(self._session, from_node)
        return [reading.fact_of(row["fact"], row["node_id"]) for row in rows]
