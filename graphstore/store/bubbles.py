"""Bubbles: what a screen shows, stored apart from nodes (rules D1, D2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphstore import jsontext, queries
from graphstore.errors import ConversationNotFound, IdConflict, InvalidInput, NodeNotFound, PathBroken
from graphstore.fingerprint import new_id
from graphstore.models import BubblePage
from graphstore.store.branches import WINDOW, marker_of
from graphstore.store.conversations import check_id
from graphstore.store.reading import bubble_of
from graphstore.store.session import Session


def add(session: Session, node_id: str, content: str | Mapping[str, Any], bubble_id: str | None) -> str:
    """Put a bubble on a node; returns its id."""
    new_bubble_id = bubble_id or new_id()
    check_id(new_bubble_id, "bubble id")
    if isinstance(content, str):
        content = {"text": content}
    if not isinstance(content, Mapping):
        raise InvalidInput(f"a bubble's content is a text or a JSON object, not {type(content).__name__}")
    row = session.row(
        queries.ADD_BUBBLE, node_id=node_id, bubble_id=new_bubble_id, content=jsontext.dumps(dict(content))
    )
    if row is None or row["outcome"] == "gone":
        raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
    if row["outcome"] == "conflict":
        raise IdConflict("bubble", new_bubble_id)
    return new_bubble_id


def page(session: Session, conversation_id: str, before: str | None, limit: int) -> BubblePage:
    """A page of the bubbles on the path to the view end, and the markers of their turns."""
    if not 1 <= limit <= 1000:
        raise InvalidInput(f"a page holds 1 to 1000 bubbles, not {limit!r}")
    # One more than asked for tells whether there is a page above.
    row = session.row(queries.BUBBLES, conversation_id=conversation_id, before=before, limit=limit + 1, window=WINDOW)
    if row is None:
        raise ConversationNotFound(conversation_id, session.workspace)
    if not row["marked"]:
        raise InvalidInput(f"bubble {before!r} is not on the path of conversation {conversation_id!r} (any more)")
    if row["top_id"] is not None and not row["top_is_whole"]:
        raise PathBroken(row["node_id"], row["top_id"])
    shown = row["page"][:limit]
    turns = {bubble["turn_id"] for bubble in shown}
    return BubblePage(
        node_id=row["node_id"],
        bubbles=tuple(bubble_of(bubble) for bubble in reversed(shown)),
        markers=tuple(marker_of(marker) for marker in row["markers"] if marker["turn_id"] in turns),
        before=shown[-1]["id"] if len(row["page"]) > limit else None,
    )
