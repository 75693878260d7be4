"""``graphstore context``: what a model would be sent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer

from graphstore.cli import ids, jsonview, output
from graphstore.cli.opening import opened
from graphstore.cli.options import ConversationId, Json, Workspace, examples
from graphstore.cli.plain import counted, one_line
from graphstore.context import Context


class Shape(StrEnum):
    """The request shapes."""

    ITEMS = "items"
    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


def context(
    conversation_id: ConversationId,
    as_: Annotated[Shape, typer.Option("--as", help="The shape of the request.")] = Shape.ITEMS,
    node: Annotated[str | None, typer.Option("--node", help="End at this node instead of the cursor.")] = None,
    for_provider: Annotated[str | None, typer.Option("--for-provider", help="Unfold what it can't read.")] = None,
    for_model: Annotated[str | None, typer.Option("--for-model", help="Unfold what it can't read.")] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Print what the next call would send to a model, as JSON: the cursor's branch and nothing of the others."""
    with opened(workspace) as store, _unlogged():
        found = ids.conversation(store, conversation_id)
        if node is None:
            made = store.context(found, for_provider=for_provider, for_model=for_model)
        else:
            end = ids.node(store, found, node)
            made = store.context(node_id=end, for_provider=for_provider, for_model=for_model)
        text = output.as_json(made.render(as_.value))
    output.print_json_text(text if json else jsonview.indented(text))
    if not json:
        _summarise(made)
    for sentence in made.warnings:
        output.errors().print(output.styled("warning: " + one_line(sentence), "yellow"), soft_wrap=True)


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep Python from printing the store's warnings by itself: this command prints them, once."""
    log, told_nowhere = logging.getLogger("graphstore"), logging.NullHandler()
    log.addHandler(told_nowhere)
    try:
        yield
    finally:
        log.removeHandler(told_nowhere)


def _summarise(made: Context) -> None:
    err = output.errors()
    source = f"{counted(len(made.items), 'item')} from {counted(len(made.nodes), 'node')}"
    told = f"{source}, {counted(len(made.body), 'byte')}, hash {made.hash[:12]}"
    err.print(output.styled(told, "dim"), soft_wrap=True)
    for sentence in made.expected:
        err.print(output.styled(one_line(sentence), "dim"), soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "context",
        rich_help_panel="Look",
        epilog=examples(
            "graphstore context 3f9a61c2",
            "graphstore context 3f9a61c2 --as openai-chat > request.json",
            "graphstore context 3f9a61c2 --node 81c0d2aa --as anthropic --json",
        ),
    )(context)
