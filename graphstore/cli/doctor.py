"""``graphstore doctor`` and ``graphstore migrate``: is everything as it should be, and if not, what to do."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from graphstore.cli import diagnosis, exits, output
from graphstore.cli.opening import ACTOR, settings
from graphstore.cli.options import Json, Workspace, examples
from graphstore.cli.plain import one_line
from graphstore.migrations import migrate as apply_migrations
from graphstore.store.graph_store import connect

SIGNS = {"ok": ("✔", "+", "green"), "note": ("•", "-", "yellow"), "wrong": ("✖", "x", "red")}

ABOUT_WIDTH = max(map(len, diagnosis.PACKAGES))


def doctor(
    settle: Annotated[
        bool, typer.Option("--settle", help="Settle turns whose process died: their pending call is marked lost.")
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Do what is safe: settle dead turns, finish interrupted deletions and clears.")
    ] = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Check the installation, the server, the schema and the workspace, and say what to do about what is wrong."""
    found = []
    for finding in diagnosis.examine(settings(), workspace, settle=settle, fix=fix, actor=ACTOR):
        found.append(finding)
        if not json:
            _show(finding)
    wrong = any(finding.state == "wrong" for finding in found)
    if json:
        output.print_json({"ok": not wrong, "findings": [asdict(finding) for finding in found]})
    else:
        _conclude(wrong)
    raise typer.Exit(exits.FAILED if wrong else exits.OK)


def _show(finding: diagnosis.Finding) -> None:
    out = output.console()
    column = 0 if output.is_unicode(out) else 1
    line = Text(f"{SIGNS[finding.state][column]} ", style=SIGNS[finding.state][2])
    line.append(f"{finding.about:<{ABOUT_WIDTH}}  ", style="bold default")
    line.append(one_line(finding.words), style="not bold default")
    out.print(line, soft_wrap=True)
    if finding.advice is not None:
        indent = " " * (ABOUT_WIDTH + 4)
        out.print(Text(indent + one_line(finding.advice), style=SIGNS[finding.state][2]), soft_wrap=True)


def _conclude(wrong: bool) -> None:
    told = ("Something is wrong; see above.", "bold red") if wrong else ("All is well.", "bold green")
    output.console().print(Text("\n" + told[0], style=told[1]), soft_wrap=True)


def migrate(json: Json = False) -> None:
    """Apply the schema changes that this version brings (opening a store does so too)."""
    database = connect(settings())
    try:
        with output.step("Migrating"):
            applied = apply_migrations(database)
    finally:
        database.close()
    if json:
        output.print_json({"applied": applied})
        return
    for name in applied:
        typer.echo(name)
    typer.echo(f"{len(applied)} applied." if applied else "The schema is up to date.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("migrate", rich_help_panel="Run", epilog=examples("graphstore migrate", "graphstore migrate --json"))(
        migrate
    )
    app.command(
        "doctor",
        rich_help_panel="Run",
        epilog=examples(
            "graphstore doctor",
            "graphstore doctor --settle",
            "graphstore doctor --fix",
            "graphstore doctor --json | jq .ok",
        ),
    )(doctor)
