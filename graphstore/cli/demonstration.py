"""``graphstore demo``: the whole idea in half a minute, in a scratch workspace.

``story`` does it and tells what happened; this file shows it.
"""

from __future__ import annotations

from dataclasses import asdict

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphstore.cli import output, story
from graphstore.cli.opening import opened
from graphstore.cli.options import Json, examples
from graphstore.cli.plain import one_line
from graphstore.cli.trees import show_tree


def demo(json: Json = False) -> None:
    """Show what this is, in half a minute: import, tree, edit, regenerate, switch, preference pairs.

    No model is called. Everything happens in a scratch workspace; your conversations are left alone.
    """
    workspace = story.scratch_workspace()
    with opened(workspace) as store:
        teller = _Silent() if json else _Teller(output.console(), workspace)
        outcome = story.tell(store, teller)
    if json:
        output.print_json(asdict(outcome))


class _Silent(story.Teller):
    """Tells nothing."""


class _Teller(story.Teller):
    """Tells each step on the terminal."""

    def __init__(self, out: Console, workspace: str) -> None:
        self._out = out
        self._unicode = output.is_unicode(out)
        self._number = 0
        self._say(Text("graphstore demo", style="bold"))
        self._say(Text(f"An export becomes a tree in Neo4j. Scratch workspace: {workspace}", style="dim"))

    def _say(self, text: Text) -> None:
        self._out.print(text, soft_wrap=False)

    def step(self, title: str, words: str, command: str | None = None) -> None:
        self._number += 1
        self._out.print()
        self._say(Text(f"{self._number}  {title}", style="bold cyan"))
        self._say(Text(words))
        if command is not None:
            self._say(Text(f"$ {command}", style="dim"))

    def fact(self, words: str, *, good: bool = False) -> None:
        sign = ("✔ " if self._unicode else "+ ") if good else "  "
        self._say(Text(sign, style="bold green").append(one_line(words), style="not bold default"))

    def quote(self, who: str, words: str) -> None:
        line = Table.grid(padding=(0, 1, 0, 0))
        line.add_column(width=10)
        line.add_column()
        line.add_row(Text(f"  {who}", style="dim"), Text(one_line(words), style="italic"))
        self._out.print(line)

    def tree(self, scene: story.Scene) -> None:
        self._out.print()
        show_tree(self._out, scene.conversation, scene.nodes)

    def end(self, commands: list[tuple[str, str]]) -> None:
        self._out.print()
        self._say(Text("Now try", style="bold cyan"))
        for command, words in commands:
            self._out.print(Text(f"  {command}", style="bold"), soft_wrap=True)
            self._out.print(Text(f"      {words}", style="dim"), soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "demo", rich_help_panel="Start here", epilog=examples("graphstore demo", "graphstore demo --json | jq .proof")
    )(demo)
