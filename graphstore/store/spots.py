"""Where a turn hangs: what an edit, a regenerate and a correction start from (rules B1, B2, B6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphstore import items, jsontext, queries
from graphstore.context import Settings
from graphstore.errors import BehindCompaction, ConversationNotFound, InvalidInput, NodeNotFound
from graphstore.items import ItemDict, ItemText
from graphstore.store import lost_turns
from graphstore.store.session import Session
from graphstore.store.settings import settings_of

SETTING_HASHES = ("system_hash", "tools_hash", "response_format_hash", "parameters_hash")


@dataclass(frozen=True)
class Spot:
    """A turn's first node, what it sent and under which settings, and the node it hangs under (``None``: a root)."""

    first_id: str
    parent_id: str | None
    cursor: str | None
    epoch: int
    sent: bytes
    provider: str | None
    model: str | None
    settings: Settings
    hashes: dict[str, str]
    context_hash: str | None
    options: dict[str, Any] | None

    def unchanged(self) -> ItemText:
        """The first node's sent items, to be sent again as they are."""
        return items.encode(self.sent, role="user")

    def edited(self, question: str | Mapping[int, ItemDict]) -> ItemText:
        """The first node's sent items with the question replaced.

        A string replaces the text of the last user message (its images and files stay); a mapping replaces the items
        at its positions. Raises ``InvalidInput`` when there is nothing there to replace.
        """
        listed = items.decode(self.sent, exact=True)
        if isinstance(question, str):
            position = _question(listed, self.first_id)
            changes: Mapping[int, ItemDict] = {position: _with_text(listed[position], question)}
        elif isinstance(question, Mapping):
            changes = question
        else:
            raise InvalidInput(
                f"a question is text, or items by their position in what node {self.first_id!r} sent, "
                f"not {question!r:.60}"
            )
        for position, item in changes.items():
            if not 0 <= position < len(listed):
                raise InvalidInput(
                    f"node {self.first_id!r} sent {len(listed)} items, so there is no item {position!r} to replace"
                )
            listed[position] = item
        return items.encode(listed, role="user")


def find(session: Session, conversation_id: str, node_id: str | None, unfold: bool) -> Spot:
    """The spot of a node's turn; ``None`` means the turn that ends the conversation. A dead turn is settled first.

    With ``unfold`` a turn behind a compaction is one to start from, too: what begins there stands on the original and
    never on the summary. Raises ``NodeNotFound``, ``BehindCompaction``, and ``InvalidInput`` for an empty conversation
    or a compaction.
    """
    row = session.row(queries.TURN_START, conversation_id=conversation_id, node_id=node_id)
    if row is None:
        raise ConversationNotFound(conversation_id, session.workspace)
    if row["expired_turn_id"] is not None:
        lost_turns.settle(session, conversation_id, row["expired_turn_id"])
        return find(session, conversation_id, node_id, unfold)
    if row["node_id"] is None and node_id is None:
        raise InvalidInput(f"conversation {conversation_id!r} is empty; there is no turn to start from")
    if row["first_id"] is None and row["is_compaction"]:
        if node_id is None and unfold and row["compacts_id"] is not None:
            return find(session, conversation_id, row["compacts_id"], unfold)
        if node_id is None:
            raise BehindCompaction(row["compacts_id"] or row["node_id"], row["node_id"])
        raise InvalidInput(f"node {node_id!r} is a compaction, not a turn; it has no question to edit")
    if row["first_id"] is None or row["deleted_at"] is not None or not row["reachable"]:
        raise NodeNotFound(node_id or row["node_id"], f"the turns of conversation {conversation_id!r}")
    if row["kind"] != "turn":
        raise InvalidInput(f"node {row['first_id']!r} is a {row['kind']}, not a turn; it has no question to edit")
    if row["behind"] and not unfold:
        raise BehindCompaction(row["first_id"], row["behind"][-1])
    return Spot(
        first_id=row["first_id"],
        parent_id=row["parent_id"],
        cursor=row["cursor"],
        epoch=row["epoch"],
        sent=session.payloads([row["sent"]]).restored(row["sent"]).encode(),
        provider=row["provider"],
        model=row["model"],
        settings=settings_of(row),
        hashes={name: row[name] for name in SETTING_HASHES if row[name] is not None},
        context_hash=row["context_hash"],
        options=None if row["options"] is None else jsontext.loads_exact(row["options"]),
    )


def _question(listed: list[ItemDict], first_id: str) -> int:
    for position in range(len(listed) - 1, -1, -1):
        item = listed[position]
        if item.get("type", "message") == "message" and item.get("role") == "user":
            return position
    raise InvalidInput(f"node {first_id!r} sent no user message to edit; name the items to replace by position")


def _with_text(message: ItemDict, text: str) -> ItemDict:
    content = message["content"]
    if isinstance(content, str):
        return {**message, "content": text}
    others = [part for part in content if part.get("type") != "text"]
    return {**message, "content": [{"type": "text", "text": text}, *others]}
