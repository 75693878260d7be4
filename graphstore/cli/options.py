"""Options that several commands share, worded once."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from graphstore.cli.plain import one_line

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs, and nothing else.")]
Workspace = Annotated[
    str | None,
    typer.Option(
        "--workspace", "-w", help="The workspace to work in.", envvar="GRAPHSTORE_WORKSPACE", show_default="default"
    ),
]
ConversationId = Annotated[
    str, typer.Argument(metavar="ID", help="A conversation: its id, or at least 4 characters of its beginning or end.")
]
NodeId = Annotated[
    str, typer.Argument(metavar="NODE", help="A node: its id, or at least 4 characters of its beginning or end.")
]


def examples(*lines: str) -> str:
    """The epilog of a command's help."""
    return "Examples:\n\n" + "\n\n".join(lines)


def named(workspace: str | None) -> str:
    """The option that leads a suggested command to the same workspace; nothing where the default does."""
    return "" if workspace is None else f" --workspace {shlex.quote(one_line(workspace))}"
