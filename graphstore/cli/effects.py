"""``graphstore effects``: what a conversation has done, or wants to do, to the outside."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from graphstore.cli import ids, output
from graphstore.cli.opening import opened
from graphstore.cli.options import ConversationId, Json, Workspace, examples
from graphstore.cli.plain import one_line
from graphstore.models import Effect


def effects(
    conversation_id: ConversationId,
    left_behind: Annotated[
        bool, typer.Option("--left-behind", help="Only what was done on branches that were left since.")
    ] = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """List the effects of a conversation on every branch: proposed, approved, done, compensated."""
    with opened(workspace) as store:
        found_id = ids.conversation(store, conversation_id)
        found = store.effects.left_behind(found_id) if left_behind else store.effects.of(found_id)
    if json:
        output.print_json_list(found)
        return
    short = ids.short(id for one in found for id in (one.id, one.node_id))
    table = output.table("effect", "name", "state", "node", "branch", "undone by")
    for one in found:
        cells = (
            short[one.id],
            one.name,
            _state(one),
            short[one.node_id],
            "current" if one.on_path else "left behind",
            _undoing(one),
        )
        table.add_row(*(Text(one_line(cell), style="" if one.on_path else "yellow") for cell in cells))
    output.print_table(table, flexible="undone by")


def _state(one: Effect) -> str:
    running = one.claim_id is not None and one.finished_at is None
    return f"{one.status.value}, claimed by {one.worker}" if running else one.status.value


def _undoing(one: Effect) -> str:
    if one.compensation is not None:
        return output.as_json(one.compensation)
    return "" if one.reversible else "can't be undone"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "effects",
        rich_help_panel="Look",
        epilog=examples("graphstore effects 3f9a61c2", "graphstore effects 3f9a61c2 --left-behind --json"),
    )(effects)
