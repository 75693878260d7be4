"""``graphstore verify``: does everything stored agree with itself?"""

from __future__ import annotations

import typer
from rich.text import Text

from graphstore.cli import exits, output
from graphstore.cli.archiving import bar
from graphstore.cli.opening import opened
from graphstore.cli.options import Json, Workspace, examples
from graphstore.cli.plain import counted, one_line
from graphstore.models import VerifyReport

SHOWN = 200
"""So many disagreements are printed; --json gives up to ten thousand."""


def verify(workspace: Workspace = None, json: Json = False) -> None:
    """Make every fingerprint again and follow every pointer; list what disagrees with what is stored."""
    with opened(workspace) as store, bar("verifying") as progress:
        report = store.verify(progress=progress)
    if json:
        output.print_json({"ok": report.ok, **dict(report)})
    else:
        _show(report)
    raise typer.Exit(exits.OK if report.ok else exits.FAILED)


def _show(report: VerifyReport) -> None:
    out = output.console()
    for one in report.listed[:SHOWN]:
        line = Text(f"{one.what:<16}  ", style="bold red")
        line.append(f"{one.kind} {one_line(one.id)}", style="not bold cyan")
        out.print(line, soft_wrap=True)
        out.print(Text(f"    stored  {one_line(one.stored)}"), soft_wrap=True)
        out.print(Text(f"    true    {one_line(one.true)}"), soft_wrap=True)
    if report.found > SHOWN:
        out.print(Text(f"and {report.found - SHOWN:,} more", style="dim"))
    looked = ", ".join(f"{count:,} {kind}" for kind, count in report.checked.items()) or "nothing"
    out.print(Text(f"Looked at {looked}"), soft_wrap=True)
    if report.erased:
        words = f"{counted(report.erased, 'call')} stood on content that was erased for good: not to be checked"
        out.print(Text(words, style="dim"), soft_wrap=True)
    if report.ok:
        out.print(Text("All agrees.", style="bold green"))
    else:
        out.print(Text(f"{counted(report.found, 'disagreement')}; what to do: docs/operations.md", style="bold red"))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "verify",
        rich_help_panel="Run",
        epilog=examples("graphstore verify", "graphstore verify --workspace team-a --json | jq '.listed[]'"),
    )(verify)
