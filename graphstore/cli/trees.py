"""``graphstore tree`` and ``graphstore path``: the drawings."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from graphstore.cli import drawing, ids, output
from graphstore.cli.opening import opened
from graphstore.cli.options import ConversationId, Json, Workspace, examples
from graphstore.cli.plain import counted, one_line
from graphstore.models import Conversation, Node, NodeKind

MaxLines = Annotated[
    int, typer.Option("--max-lines", min=0, help="Draw at most so many rows, around the cursor; 0: all.")
]
Models = Annotated[bool, typer.Option("--models", help="Show which model answered.")]
Times = Annotated[bool, typer.Option("--times", help="Show when each turn began.")]


def tree(
    conversation_id: ConversationId,
    max_lines: MaxLines = 200,
    models: Models = False,
    times: Times = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Draw a conversation's tree: every branch, the cursor, what failed."""
    with opened(workspace) as store:
        conversation = store.conversation(ids.conversation(store, conversation_id))
        nodes = store.tree(conversation.id)
    if json:
        output.print_json({"conversation": conversation, "nodes": nodes})
        return
    show_tree(output.console(), conversation, nodes, max_lines=max_lines, models=models, times=times)


def path(
    conversation_id: ConversationId,
    max_lines: MaxLines = 200,
    models: Models = False,
    times: Times = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Show the turns from the first question to the cursor, and nothing beside them."""
    with opened(workspace) as store:
        conversation = store.conversation(ids.conversation(store, conversation_id))
        nodes = store.path(conversation.id)
    if json:
        output.print_json_list(nodes)
        return
    show_tree(output.console(), conversation, nodes, max_lines=max_lines, models=models, times=times)


def show_tree(
    out: Console,
    conversation: Conversation,
    nodes: list[Node],
    *,
    max_lines: int = 0,
    models: bool = False,
    times: bool = False,
) -> None:
    """Print a heading, the drawing and a legend."""
    glyphs = drawing.UNICODE if output.is_unicode(out) else drawing.ASCII
    shown = drawing.Style(
        width=out.width,
        glyphs=glyphs,
        max_lines=max_lines,
        models=models,
        times=times,
        ids=ids.ending_length(node.id for node in nodes),
    )
    heading = Text(one_line(conversation.title or "(no title)"), style="bold")
    leaves = _leaves(nodes)
    own = sum(node.conversation_id == conversation.id for node in nodes)
    shared = f" + {len(nodes) - own:,} shared" if own < len(nodes) else ""
    counts = [counted(own, "node") + shared, counted(leaves, "branch", "branches")]
    heading.append("  " + "  ".join([conversation.id, *counts]), style="dim not bold")
    out.print(heading, soft_wrap=True)
    if not nodes:
        out.print(Text("no turns yet", style="dim"))
        return
    for line in drawing.draw(nodes, conversation.cursor, shown):
        out.print(line, soft_wrap=True)
    told = drawing.legend(nodes, conversation.cursor, glyphs)
    if told is not None:
        out.print()
        out.print(told, soft_wrap=True)


def _leaves(nodes: list[Node]) -> int:
    above: set[str | None] = set()
    leaves = 0
    for node in reversed(nodes):  # children before what they hang on
        if node.id in above or node.kind is not NodeKind.CONVERSION:
            leaves += node.id not in above
            above.add(node.parent_id or node.compacts_id)
    return leaves


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        "tree",
        rich_help_panel="Look",
        epilog=examples(
            "graphstore tree 3f9a61c2",
            "graphstore tree 3f9a61c2 --models --times",
            "graphstore tree 3f9a61c2 --max-lines 0 | less -R",
        ),
    )(tree)
    app.command(
        "path", rich_help_panel="Look", epilog=examples("graphstore path 3f9a61c2", "graphstore path 3f9a61c2 --json")
    )(path)
