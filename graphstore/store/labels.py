"""Labels on nodes and on branches (rule W2)."""

from __future__ import annotations

from graphstore import fingerprint, queries
from graphstore.database import Row
from graphstore.errors import NodeNotFound
from graphstore.models_branches import Label
from graphstore.store import conversations, pages
from graphstore.store.session import Session


class Labels:
    """The labels of a workspace: ``store.labels``. They belong to their nodes, and are never part of a context."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, node_id: str, name: str, *, branch: bool = False) -> None:
        """Put a label on a node, or (``branch``) on the branch that begins there; one that is there stays as it is.

        Raises ``NodeNotFound`` (hidden ones too), ``InvalidInput``.
        """
        row = self._session.row(
            queries.ADD_LABEL,
            node_id=node_id,
            label_id=id_of(node_id, name, branch),
            name=name,
            branch=bool(branch),
            actor=self._session.actor,
        )
        if row is None:
            raise NodeNotFound(node_id, f"the branches of workspace {self._session.workspace!r} that are to be seen")

    def remove(self, node_id: str, name: str, *, branch: bool = False) -> bool:
        """Take a label off; returns whether it was there."""
        row = self._session.row(queries.REMOVE_LABEL, label_id=id_of(node_id, name, branch))
        return row is not None and row["removed"] > 0

    def of(self, conversation_id: str) -> list[Label]:
        """The labels on the nodes a conversation owns, in the order they were put there; not those of hidden branches.

        Raises ``ConversationNotFound``.
        """
        rows = self._session.rows(queries.LABELS, conversation_id=conversation_id, node_id=None)
        if not rows:
            conversations.get(self._session, conversation_id)
        return [_label_of(row) for row in rows]

    def on(self, node_id: str) -> list[Label]:
        """The labels on one node, and on the branch that begins there. Raises ``NodeNotFound``."""
        rows = self._session.rows(queries.LABELS, conversation_id=None, node_id=node_id)
        if not rows:
            conversations.node(self._session, node_id)
        return [_label_of(row) for row in rows]

    def find(self, name: str, *, limit: int = 50, after: str | None = None) -> tuple[list[Label], str | None]:
        """A page of the labels of one name, newest first, and the key of the next page (``None``: the end)."""
        conversations.check_id(name, "label")
        after_at, after_id = pages.place_of(after)
        wanted = pages.size(limit, "labels")
        rows = self._session.rows(queries.LABELLED, name=name, after_at=after_at, after_id=after_id, limit=wanted + 1)
        shown = rows[:wanted]
        last = shown[-1]["l"] if len(rows) > wanted else None
        return [_label_of(row) for row in shown], None if last is None else pages.key_of(last["created_at"], last["id"])


def id_of(node_id: str, name: str, branch: bool) -> str:
    """The id of a node's label, so that setting it twice makes one. Raises ``InvalidInput``."""
    conversations.check_id(name, "label")
    return fingerprint.derived_id("label", node_id, name, "branch" if branch else "node")


def _label_of(row: Row) -> Label:
    stored = row["l"]
    return Label(
        node_id=row["node_id"],
        conversation_id=row["conversation_id"],
        name=stored["name"],
        branch=stored["branch"],
        actor=stored.get("actor"),
        created_at=stored["created_at"].to_native(),
    )
