"""What is new below a context that the client holds (rule W7): one query, which reads the tail alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphstore import bookmarks, items, queries
from graphstore.bookmarks import Bookmark
from graphstore.context import Context, Settings
from graphstore.database import Row
from graphstore.errors import ConversationNotFound, HeldPartChanged, NodeNotFound
from graphstore.items import ItemDict
from graphstore.pairing import EMPTY
from graphstore.segments import EMPTY_ARRAY, PathFacts, Segment
from graphstore.store import assembly
from graphstore.store.session import Session
from graphstore.store.settings import settings_of


@dataclass(frozen=True)
class Tail:
    """What a context has below the part that the client holds: that part and this one are the whole, in order.

    ``below`` is the last node of the held part (``None``: it was empty), ``nodes`` are the ids of those below it.
    ``settings`` are those in force at the end, ``cursor``, ``version`` and ``epoch`` as of a context. ``bookmark`` is
    where the whole ends: pass it next time.
    """

    below: str | None
    context: Context
    bookmark: str

    @property
    def nodes(self) -> tuple[str, ...]:
        """The ids of the nodes below the held part, in path order."""
        return self.context.nodes if self.below is None else self.context.nodes[1:]

    @property
    def items(self) -> list[ItemDict]:
        """Their items, tool calls and results paired."""
        return self.context.items

    @property
    def body(self) -> bytes:
        """The items as a JSON array, UTF-8."""
        return self.context.body

    @property
    def settings(self) -> Settings:
        """System prompt and tools in force at the end."""
        return self.context.settings

    @property
    def cursor(self) -> str | None:
        """The conversation's cursor (``None`` when a node was named)."""
        return self.context.cursor

    @property
    def version(self) -> int | None:
        """The conversation's version."""
        return self.context.version

    @property
    def epoch(self) -> int | None:
        """The conversation's epoch."""
        return self.context.epoch

    @property
    def warnings(self) -> list[str]:
        """What had to be filtered from the tail."""
        return self.context.warnings


def tail(session: Session, conversation_id: str | None, node_id: str | None, below: str | Context) -> Tail:
    """The tail of a conversation's context, or a node's, below a held part."""
    held = bookmarks.decoded(below.bookmark if isinstance(below, Context) else below)
    named = {"conversation_id": conversation_id} if node_id is None else {"node_id": node_id}
    row = session.row(
        queries.EXTEND if node_id is None else queries.EXTEND_NODE,
        **named,
        readers=list(held.readers),
        known=[] if held.node_id is None else [held.node_id],
        owners=sorted(owner for owner, _ in held.owners),
        unsettled=sorted(held.unsettled),
    )
    if conversation_id is not None and (row is None or row["deleting"]):
        raise ConversationNotFound(conversation_id, session.workspace)
    if row is None:
        raise NodeNotFound(node_id or "", f"workspace {session.workspace!r}")
    segment = _segment(row, held)
    context = Context(
        segment=segment,
        new_items=items.NO_ITEMS,
        settings=settings_of(row),
        conversation_id=conversation_id,
        cursor=row["cursor"],
        version=row["version"],
        epoch=row["epoch"],
        owners=assembly.owners_of(row),
        readers=held.readers,
    )
    context = assembly.with_new_items(session, context, items.NO_ITEMS)
    mark = held if segment is None else _mark(held, segment)
    return Tail(held.node_id, context, mark.encoded())


def _segment(row: Row, held: Bookmark) -> Segment | None:
    """The chain below the held part, on a stand-in for it. Raises ``HeldPartChanged`` unless that part stands."""
    ids: list[str] = row["ids"]
    compactions: dict[str, list[str]] = dict(row["compactions"])
    if held.node_id is None:
        if not ids:
            return None
        assembly.check_top(ids, row["top_is_root"], compactions, held.readers)
        return assembly.segments_of(row, None, compactions)
    if not ids or ids[-1] != held.node_id:
        raise HeldPartChanged(held.node_id, "off_path")
    if not held.owners <= assembly.owners_of(row):
        raise HeldPartChanged(held.node_id, "removed")
    if row["settled"]:
        raise HeldPartChanged(held.node_id, "completed")
    new: list[tuple[Any, Any]] = [
        (row["result_ids"][place] or (), row["call_ids"][place] or ())
        for place in range(len(ids) - 2, -1, -1)
        if ids[place] not in compactions
    ]
    if held.answered(new):
        raise HeldPartChanged(held.node_id, "answered")
    facts = PathFacts(EMPTY, held.owners, held.unsettled, False)
    return assembly.segments_of(row, Segment(None, held.node_id, EMPTY_ARRAY, EMPTY_ARRAY, facts), compactions)


def _mark(held: Bookmark, segment: Segment) -> Bookmark:
    facts = segment.facts
    return Bookmark(segment.node_id, held.readers, facts.owners, facts.unsettled, held.open.union(facts.pairing.open))
