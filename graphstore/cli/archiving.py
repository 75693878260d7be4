"""``graphstore archive``: a whole workspace as one file, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from graphstore.cli import output
from graphstore.cli.opening import opened
from graphstore.cli.options import Json, Workspace, examples
from graphstore.cli.plain import counted, one_line
from graphstore.models import ArchiveReport

archive = typer.Typer(
    help="A whole workspace as one file, and back: the backup, and the way to another server.", no_args_is_help=True
)

ArchiveFile = Annotated[Path, typer.Argument(metavar="FILE", help="The archive.")]


def export(
    file: ArchiveFile,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Also when the file is there already.")] = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Write everything that the workspace holds into a file; it may be used meanwhile."""
    with opened(workspace) as store, bar("archiving") as progress:
        report = store.archive.export(file, overwrite=overwrite, progress=progress)
    show(report, "Wrote", json)


def import_(file: ArchiveFile, workspace: Workspace = None, json: Json = False) -> None:
    """Put everything of a file into the workspace, which must be empty; interrupted, the same command finishes it."""
    with opened(workspace) as store, bar("restoring") as progress:
        report = store.archive.restore(file, progress=progress)
    show(report, "Restored", json)


def check(file: ArchiveFile, workspace: Workspace = None, json: Json = False) -> None:
    """Read a file from end to end: is it whole, and what does it hold?"""
    with opened(workspace) as store, bar("checking") as progress:
        report = store.archive.check(file, progress=progress)
    show(report, "Whole:", json)


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, if a person looks at it."""
    err = output.errors()
    if not err.is_terminal:
        yield output.unseen
        return
    columns = (SpinnerColumn(), TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bars:
        task = bars.add_task("", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def show(report: ArchiveReport, done: str, json: bool) -> None:
    """Say what an archive holds."""
    if json:
        output.print_json(report)
        return
    out = output.console()
    held = ", ".join(f"{count:,} {kind}" for kind, count in report.counts.items()) or "an empty workspace"
    out.print(Text(f"{done} {one_line(str(report.path))}", style="bold"), soft_wrap=True)
    out.print(Text(f"  workspace {one_line(report.workspace)}: {held}"), soft_wrap=True)
    out.print(Text(f"  {counted(report.bytes, 'byte')}, SHA-256 of the content {report.sha256}", style="dim"))


def register(app: typer.Typer) -> None:
    """Add the group."""
    archive.command(
        "export",
        epilog=examples(
            "graphstore archive export backup.jsonl.gz",
            "graphstore archive export backup.jsonl.gz --workspace team-a --overwrite --json",
        ),
    )(export)
    archive.command(
        "import",
        epilog=examples(
            "graphstore archive import backup.jsonl.gz", "graphstore archive import backup.jsonl.gz --workspace copy"
        ),
    )(import_)
    archive.command("check", epilog=examples("graphstore archive check backup.jsonl.gz"))(check)
    app.add_typer(archive, name="archive", rich_help_panel="Run")
