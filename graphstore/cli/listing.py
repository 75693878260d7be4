"""``graphstore ls``."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer
from rich.text import Text

from graphstore.cli import ids, output
from graphstore.cli.opening import opened
from graphstore.cli.options import Json, Workspace, examples
from graphstore.cli.plain import one_line
from graphstore.models import ConversationSummary


def ls(
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="At most so many, newest first; 0: all.")] = 0,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """List the conversations of a workspace, newest first."""
    with opened(workspace) as store:
        found = islice(store.conversations(), limit or None)
        if json:
            output.print_json_list(found)
        else:
            _show(list(found), store.workspace)


def _show(found: list[ConversationSummary], workspace: str) -> None:
    if not found:
        output.errors().print(
            f"Workspace {one_line(workspace)!r} has no conversations yet. Bring some:  graphstore import PATH",
            soft_wrap=True,
        )
        return
    table = output.table("id", "title", "nodes", "branches", "source", "updated", right=("nodes", "branches"))
    short = ids.short(one.id for one in found)
    for one in found:
        table.add_row(
            Text(one_line(short[one.id]), style="cyan"),
            Text(one_line(one.title or ""), style="" if one.title else "dim"),
            f"{one.nodes:,}" if one.forked_from is None else f"{one.nodes:,} + shared",
            Text(f"{one.branches:,}", style="bold" if one.branches > 1 else "dim"),
            Text(one_line(one.source or ""), style="dim"),
            Text(f"{one.updated_at.astimezone():%Y-%m-%d %H:%M}", style="dim"),
        )
    output.print_table(table, flexible="title")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "ls",
        rich_help_panel="Look",
        epilog=examples("graphstore ls", "graphstore ls --limit 20", "graphstore ls --json | jq -r '.\\[].title'"),
    )(ls)
