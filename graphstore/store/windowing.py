"""Contexts narrowed to their newest turns (rule W5): which node is of which turn is read, the rest is known."""

from __future__ import annotations

from dataclasses import replace

from graphstore import jsontext, queries
from graphstore.context import Context
from graphstore.errors import PathBroken
from graphstore.segments import inner
from graphstore.store.session import Session
from graphstore.window import Limits, narrowed, window


def windowed(session: Session, context: Context, limits: Limits, running: bool = False) -> Context:
    """The context under some limits; ``running`` says that its last turn is the one that asks.

    Raises ``InvalidInput`` when even the newest turn has more tokens than it may.
    """
    if not limits.given:
        return context
    line = [] if context.segment is None else context.segment.line()
    row = session.row(queries.TURNS_OF, node_ids=[segment.node_id for segment in line])
    turns = {node_id: (turn_id, compaction) for node_id, turn_id, compaction in (row or {"turns": []})["turns"]}
    for segment in line:
        if segment.node_id not in turns:  # removed since the path was read
            raise PathBroken(line[-1].node_id, segment.node_id)
    settings = context.settings
    beside = "".join(jsontext.dumps(part) for part in (settings.tools, settings.system) if part is not None)
    found = window(line, turns, limits, beside + inner(context.new_items.text), running)
    narrow = narrowed(line, found.left_out) if line else None
    return replace(context, segment=narrow, window=found, whole=context.segment)
