"""``graphstore saw``: what a call's model saw, or what the user saw at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from graphstore.cli import ids, jsonview, output
from graphstore.cli.contexts import Shape
from graphstore.cli.history import print_bubbles
from graphstore.cli.opening import opened
from graphstore.cli.options import ConversationId, Json, Workspace, examples
from graphstore.cli.plain import counted, one_line
from graphstore.errors import InvalidInput
from graphstore.models import SawByUser
from graphstore.store.reconstruction import SawByModel

_VERDICTS = {
    "same": "this is what was sent, by its fingerprint",
    "different": "this is not what was sent: its fingerprint differs from the one stored with the call",
    "unrecorded": "whether this is what was sent can't be told: no fingerprint was stored",
}


def saw(
    conversation_id: ConversationId,
    node: Annotated[str | None, typer.Option("--node", help="The call whose model is asked about.")] = None,
    at: Annotated[str | None, typer.Option("--at", help="The time, as 2026-01-31 or 2026-01-31T17:45.")] = None,
    as_: Annotated[Shape, typer.Option("--as", help="With --node: the shape of the request.")] = Shape.ITEMS,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Show what the model of a call saw (--node), or what the user saw at a time (--at)."""
    if (node is None) == (at is None):
        raise InvalidInput("say either --node, for what a call's model saw, or --at, for what the user saw then")
    with opened(workspace) as store:
        found = ids.conversation(store, conversation_id)
        if at is not None:
            _show_screen(store.saw_by_user(found, _time(at)), json)
        else:
            assert node is not None
            _show_context(store.saw_by_model(ids.node(store, found, node)), as_, json)


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise InvalidInput(f"{text!r} is not a time; write it as 2026-01-31 or 2026-01-31T17:45") from None


def _show_context(seen: SawByModel, shape: Shape, json: bool) -> None:
    request = seen.context.render(shape.value)
    if json:
        told = {name: getattr(seen, name) for name in ("node_id", "verdict", "recorded_hash", "late", "erased")}
        told |= {"hash": seen.context.hash, "provider": seen.provider, "model": seen.model}
        told |= {"parameters": seen.parameters, "nodes": seen.context.nodes, "request": request}
        output.print_json(told)
        return
    output.print_json_text(jsonview.indented(output.as_json(request)))
    err = output.errors()
    err.print(
        output.styled(_VERDICTS[seen.verdict], "yellow" if seen.verdict == "different" else "dim"), soft_wrap=True
    )
    if seen.erased:
        err.print(output.styled(f"{counted(len(seen.erased), 'node')} erased since", "yellow"), soft_wrap=True)
    for late in seen.late:
        told_late = f"left out: the answer of {one_line(late)}, which came only after this call had begun"
        err.print(output.styled(told_late, "dim"), soft_wrap=True)


def _show_screen(seen: SawByUser, json: bool) -> None:
    if json:
        output.print_json(seen)
        return
    err = output.errors()
    if seen.node_id is None:
        err.print("The conversation was empty then.", soft_wrap=True)
    elif seen.gone:
        err.print(f"What was shown then, up to node {one_line(seen.node_id)}, has been removed since.", soft_wrap=True)
    elif not seen.bubbles:
        told = f"A path of {counted(len(seen.path), 'node')}, without bubbles then, to {one_line(seen.node_id)}"
        err.print(told, soft_wrap=True)
    else:
        print_bubbles(seen.bubbles)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "saw",
        rich_help_panel="Look",
        epilog=examples(
            "graphstore saw 3f9a61c2 --node 81c0d2aa",
            "graphstore saw 3f9a61c2 --node 81c0d2aa --as anthropic --json",
            "graphstore saw 3f9a61c2 --at 2026-01-31T17:45",
        ),
    )(saw)
