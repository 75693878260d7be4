"""Branches and subtrees, a page at a time (rule W3)."""

from __future__ import annotations

from graphstore import jsontext, queries
from graphstore.database import Row
from graphstore.errors import ConversationNotFound
from graphstore.models import Node
from graphstore.models_branches import Branch
from graphstore.store import comparison, conversations, pages
from graphstore.store.session import Session


def branches(session: Session, conversation_id: str, limit: int, after: str | None) -> tuple[list[Branch], str | None]:
    """A page of a conversation's live branches, newest first."""
    wanted = pages.size(limit, "branches")
    after_at, after_id = pages.place_of(after)
    row = session.row(
        queries.BRANCHES, conversation_id=conversation_id, after_at=after_at, after_id=after_id, limit=wanted + 1
    )
    if row is None:
        raise ConversationNotFound(conversation_id, session.workspace)
    accepted: list[str] = row["accepted"]
    ends = [node_id for node_id, _ in row["ends"][:wanted]]
    cursor = accepted[:1]
    found = {
        one["node_id"]: _branch_of(one, node_ids == cursor)
        for node_ids, path in (([end for end in ends if end not in cursor], accepted), (cursor, []))
        if not set(node_ids).isdisjoint(ends)
        for one in session.rows(queries.STRETCHES, ends=node_ids, accepted=path)
    }
    # What was removed between the two looks is left out.
    shown = [found[node_id] for node_id in ends if node_id in found]
    more = len(row["ends"]) > wanted
    last_id, last_at = row["ends"][wanted - 1] if more else (None, None)
    return shown, pages.key_of(last_at, last_id) if last_id is not None else None


def subtree(session: Session, node_id: str, limit: int, after: str | None) -> tuple[list[Node], str | None]:
    """A page of the live nodes at and below a node, oldest first."""
    wanted = pages.size(limit, "nodes")
    after_at, after_id = pages.place_of(after)
    rows = session.rows(queries.SUBTREE, node_id=node_id, after_at=after_at, after_id=after_id, limit=wanted + 1)
    if not rows:
        conversations.node(session, node_id)
    found = comparison.nodes(session, [row["id"] for row in rows[:wanted]])
    last = rows[wanted - 1] if len(rows) > wanted else None
    # What was removed between the two looks is left out.
    shown = [found[row["id"]] for row in rows[:wanted] if row["id"] in found]
    return shown, None if last is None else pages.key_of(last["created_at"], last["id"])


def _branch_of(row: Row, accepted: bool) -> Branch:
    return Branch(
        node_id=row["node_id"],
        first_id=row["first_id"],
        leaves_at=row["leaves_at"],
        nodes=row["nodes"],
        status=row["status"],
        newest_at=row["newest_at"].to_native(),
        accepted=accepted,
        labels=tuple(row["labels"]),
        summary=None if row["summary"] is None else jsontext.unshield(row["summary"]),
    )
