"""``graphstore switch``, ``markers``, ``bubbles``, ``moves``: where the cursor stands, could stand, and stood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from graphstore.cli import ids, output
from graphstore.cli.opening import opened
from graphstore.cli.options import ConversationId, Json, NodeId, Workspace, examples, named
from graphstore.cli.plain import one_line
from graphstore.models import Bubble, Marker


def switch(conversation_id: ConversationId, node: NodeId, workspace: Workspace = None, json: Json = False) -> None:
    """Move the cursor to the end of the branch at a node; nothing is lost, and it can be moved back."""
    with opened(workspace) as store:
        found = ids.conversation(store, conversation_id)
        before = store.conversation(found).cursor
        after = store.switch(found, ids.node(store, found, node))
    if json:
        output.print_json({"conversation_id": found, "cursor": after, "before": before})
        return
    out = output.console()
    if after == before:
        out.print(Text(f"The cursor is there already: {one_line(after)}"), soft_wrap=True)
        return
    out.print(Text(f"The cursor is now at {one_line(after)}"), soft_wrap=True)
    if before is not None:
        again = f"graphstore switch {one_line(conversation_id)} {one_line(before)[-ids.SHOWN :]}{named(workspace)}"
        out.print(Text(f"Back:  {again}", style="dim"), soft_wrap=True)


def markers(conversation_id: ConversationId, workspace: Workspace = None, json: Json = False) -> None:
    """Show where each turn on the path stands among its siblings ("2/3"), and where the arrows lead."""
    with opened(workspace) as store:
        found = store.markers(ids.conversation(store, conversation_id))
    if json:
        output.print_json_list(found)
        return
    short = ids.short(id for marker in found for id in (marker.node_id, marker.left, marker.right) if id)
    table = output.table("turn", "place", "question", "answer", "left", "right")
    for marker in found:
        style = "" if marker.count > 1 else "dim"
        cells = (
            short[marker.node_id],
            f"{marker.position}/{marker.count}",
            f"{marker.version}/{marker.versions}",
            f"{marker.answer}/{marker.answers}",
            short[marker.left] if marker.left else "",
            short[marker.right] if marker.right else "",
        )
        table.add_row(*(Text(one_line(cell), style=style) for cell in cells))
    output.print_table(table)


def moves(conversation_id: ConversationId, workspace: Workspace = None, json: Json = False) -> None:
    """Show every move of the cursor in order, refused ones too."""
    with opened(workspace) as store:
        found = store.moves(ids.conversation(store, conversation_id))
    if json:
        output.print_json_list(found)
        return
    short = ids.short(id for move in found for id in (move.from_id, move.to_id) if id)
    table = output.table("#", "at", "reason", "from", "to", "by", right=("#",))
    for move in found:
        reason = move.reason.value if move.accepted else f"{move.reason.value}, refused"
        cells = (
            f"{move.seq}",
            f"{move.at.astimezone():%Y-%m-%d %H:%M:%S}",
            reason,
            short[move.from_id] if move.from_id else "(empty)",
            short[move.to_id] if move.to_id else "(empty)",
            move.actor or "",
        )
        table.add_row(*(Text(one_line(cell), style="" if move.accepted else "yellow") for cell in cells))
    output.print_table(table)


def bubbles(
    conversation_id: ConversationId,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="At most so many, the newest.")] = 50,
    before: Annotated[str | None, typer.Option("--before", help="The page above this one: its `before`.")] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Show what a screen shows: the bubbles on the path to the cursor or the running turn, a page from the end."""
    with opened(workspace) as store:
        page = store.bubbles(ids.conversation(store, conversation_id), before=before, limit=limit)
    if json:
        output.print_json(page)
        return
    print_bubbles(page.bubbles, page.markers)
    if page.before is not None:
        above = f"graphstore bubbles {one_line(conversation_id)} --before {one_line(page.before)}"
        output.errors().print(Text(f"Above:  {above}", style="dim"), soft_wrap=True)


def print_bubbles(shown: Sequence[Bubble], turns: Sequence[Marker] = ()) -> None:
    """Print bubbles as a table: the place of their turn where it has siblings, what they show, the node."""
    places = {marker.turn_id: f"{marker.position}/{marker.count}" for marker in turns if marker.count > 1}
    short = ids.short(bubble.node_id for bubble in shown)
    table = output.table("at", "place", "bubble", "node")
    for bubble in shown:
        text = bubble.content.get("text")
        cells = (
            f"{bubble.created_at.astimezone():%Y-%m-%d %H:%M:%S}",
            places.get(bubble.turn_id, ""),
            text if isinstance(text, str) else output.as_json(bubble.content),
            short[bubble.node_id],
        )
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    output.print_table(table, flexible="bubble")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        "switch",
        rich_help_panel="Change",
        epilog=examples("graphstore switch 3f9a61c2 81c0d2aa", "graphstore switch 3f9a61c2 81c0d2aa --json"),
    )(switch)
    app.command(
        "markers",
        rich_help_panel="Look",
        epilog=examples("graphstore markers 3f9a61c2", "graphstore markers 3f9a61c2 --json | jq '.\\[-1].siblings'"),
    )(markers)
    app.command(
        "bubbles",
        rich_help_panel="Look",
        epilog=examples("graphstore bubbles 3f9a61c2", "graphstore bubbles 3f9a61c2 --limit 10 --json"),
    )(bubbles)
    app.command(
        "moves",
        rich_help_panel="Look",
        epilog=examples("graphstore moves 3f9a61c2", "graphstore moves 3f9a61c2 --json"),
    )(moves)
