"""Conversations: making, reading and listing them, their tree, path and moves."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from graphstore import jsontext, queries
from graphstore.database import Row, stored_time
from graphstore.errors import ConversationNotFound, IdConflict, InvalidInput, NodeNotFound, PathBroken
from graphstore.fingerprint import new_id
from graphstore.models import Conversation, ConversationSummary, Move, Node, UnseenBranch
from graphstore.store import checking, reading
from graphstore.store.session import Session, steady

MAX_ID = 512


def create(session: Session, conversation_id: str | None, title: str | None, metadata: dict[str, Any] | None) -> str:
    """Make a conversation; the same again is accepted, also when it has grown since."""
    new_conversation_id = new_id() if conversation_id is None else conversation_id
    check_id(new_conversation_id, "conversation id")
    row = session.row(
        queries.CREATE_CONVERSATION,
        conversation_id=new_conversation_id,
        title=None if checking.text(title, "a title") is None else jsontext.shield(title or ""),
        metadata=jsontext.dumps(checking.json_object(metadata, "metadata") or {}),
        operation_id=new_id(),
    )
    assert row is not None
    if not row["same"]:
        raise IdConflict("conversation", new_conversation_id)
    return new_conversation_id


def check_id(value: str, what: str) -> None:
    """Raise ``InvalidInput`` unless ``value`` can be an id: 1 to 512 printable characters."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_ID or not value.isprintable():
        given = f"{value!r:.80}" if isinstance(value, str) else f"a value of type {type(value).__name__}"
        raise InvalidInput(f"a {what} is a string of 1 to {MAX_ID} printable characters, not {given}")


def get(session: Session, conversation_id: str) -> Conversation:
    """One conversation."""
    row = session.row(queries.CONVERSATION, conversation_id=conversation_id)
    if row is None:
        raise ConversationNotFound(conversation_id, session.workspace)
    return reading.conversation_of(row, session.workspace)


def page(session: Session, limit: int, after: str | None) -> tuple[list[ConversationSummary], str | None]:
    """A page of conversations, newest first, and the key of the next page (``None``: the last)."""
    if not isinstance(limit, int) or not 1 <= limit <= 1000:
        raise InvalidInput(f"a page holds 1 to 1000 conversations, not {limit!r}")
    after_at, after_id = (None, None) if after is None else _decode_key(after)
    rows = session.rows(queries.LIST_CONVERSATIONS, after_at=after_at, after_id=after_id, limit=limit + 1)
    next_key = None
    if len(rows) > limit:
        rows = rows[:limit]
        next_key = _encode_key(rows[-1]["created_at"].iso_format(), rows[-1]["id"])
    return [reading.summary_of(row) for row in rows], next_key


def _encode_key(at: str, id: str) -> str:
    return base64.urlsafe_b64encode(f"{at} {id}".encode()).decode().rstrip("=")


def _decode_key(key: str) -> tuple[Any, str]:
    try:
        at, _, id = base64.urlsafe_b64decode(key + "=" * (-len(key) % 4)).decode().partition(" ")
        return stored_time(at), id
    except (binascii.Error, ValueError):
        raise InvalidInput(f"{key!r:.80} is not the key of a page; use the one that the page before gave") from None


def node(session: Session, node_id: str) -> Node:
    """One node with its items."""

    def read() -> Node:
        row = session.row(queries.NODE, node_id=node_id)
        if row is None:
            raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
        return nodes_of(session, [row])[0]

    return steady(read)


def nodes_of(session: Session, rows: list[Row]) -> list[Node]:
    """Nodes from rows of ``n``, ``parent_id`` and ``compacts_id``."""
    payloads = session.payloads(reading.texts_of(row["n"] for row in rows))
    return [reading.node_of(row["n"], row["n"].labels, row["parent_id"], row["compacts_id"], payloads) for row in rows]


def path(session: Session, conversation_id: str | None, node_id: str | None) -> list[Node]:
    """The history path, root first. Raises ``PathBroken`` rather than give a part of one."""
    return steady(lambda: _path(session, conversation_id, node_id))


def _path(session: Session, conversation_id: str | None, node_id: str | None) -> list[Node]:
    row = session.row(queries.PATH, conversation_id=conversation_id, node_id=node_id) or {}
    if conversation_id is not None and (row.get("conversation_id") is None or row["deleting"]):
        raise ConversationNotFound(conversation_id, session.workspace)
    if node_id is not None and not row["nodes"]:
        raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
    if row["nodes"]:
        top = row["nodes"][-1]
        if not (top["is_root"] or "Compaction" in top.labels):
            raise PathBroken(row["nodes"][0]["id"], top["id"])
    payloads = session.payloads(reading.texts_of(row["nodes"]))
    out: list[Node] = []
    above: str | None = None
    for stored in reversed(row["nodes"]):
        folded = "Compaction" in stored.labels
        parent, original = (None, above) if folded else (above, None)
        out.append(reading.node_of(stored, stored.labels, parent, original, payloads))
        above = stored["id"]
    return out


def tree(session: Session, conversation_id: str) -> list[Node]:
    """Every live node the conversation owns, and the shared prefix it stands on, oldest first."""
    get(session, conversation_id)
    return steady(lambda: nodes_of(session, session.rows(queries.TREE, conversation_id=conversation_id)))


def moves(session: Session, conversation_id: str) -> list[Move]:
    """Every move of the cursor in order, refused ones too."""
    rows = session.rows(queries.MOVES, conversation_id=conversation_id)
    if not rows:
        get(session, conversation_id)
    return [reading.move_of(row) for row in rows]


def unseen_branches(session: Session, conversation_id: str) -> list[UnseenBranch]:
    """The branches kept after a lost race and not looked at since."""
    rows = session.rows(queries.UNSEEN_BRANCHES, conversation_id=conversation_id)
    if not rows:
        get(session, conversation_id)
    return [reading.unseen_of(row) for row in rows]


def dismiss(session: Session, conversation_id: str, node_id: str) -> None:
    """Take a branch off the unseen list; its nodes stay. Repeating it changes nothing."""
    if session.row(queries.DISMISS, conversation_id=conversation_id, node_id=node_id) is None:
        raise ConversationNotFound(conversation_id, session.workspace)
