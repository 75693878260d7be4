"""Options that several commands share, worded once."""

from __future__ import annotations

from typing import Annotated

import typer

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
