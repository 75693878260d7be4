"""``graphstore import``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from graphstore import importers
from graphstore.cli import archiving, exits, output
from graphstore.cli.opening import opened
from graphstore.cli.options import Json, Workspace, examples
from graphstore.cli.plain import counted, one_line
from graphstore.errors import InvalidInput, SourceUnreadable
from graphstore.models import ImportOutcome
from graphstore.store import GraphStore
from graphstore.store.archive_file import is_archive

READ = ("messages", "calls")
"""Words of a report's counts that tell what was read; the others are oddities that were met and mended."""

LISTED = 20
"""So many conversations are named without --verbose."""


@dataclass
class Tally:
    """What became of one path."""

    path: Path
    outcomes: list[ImportOutcome] = field(default_factory=list)
    added: int = 0
    known: int = 0
    skipped: int = 0
    messages: int = 0
    repairs: Counter[str] = field(default_factory=Counter)
    unreadable: str | None = None

    def count(self, outcome: ImportOutcome) -> None:
        """Take one conversation into account."""
        self.outcomes.append(outcome)
        self.added += outcome.nodes_added
        self.known += outcome.nodes_known
        self.skipped += outcome.skipped is not None
        self.messages += outcome.counts.get("messages", 0)
        self.repairs.update(repairs(outcome))


def repairs(outcome: ImportOutcome) -> dict[str, int]:
    """The oddities of one conversation, by word."""
    return {word: count for word, count in outcome.counts.items() if word not in READ and count}


def import_(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Exports: files, gzip files, zips, folders.")],
    format: Annotated[
        str | None, typer.Option("--format", help="One of " + ", ".join(importers.FORMATS), show_default="by content")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Name every conversation, with all notes.")] = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Import exports of ChatGPT, Claude.ai, OpenAssistant or OpenAI messages; repeating it adds only what is new."""
    if format is not None and format not in importers.FORMATS:
        raise InvalidInput(f"{format!r} is not a format; choose one of {', '.join(importers.FORMATS)}")
    tallies = []
    with opened(workspace) as store:
        for path in paths:
            if format is None and is_archive(path):
                with archiving.bar("restoring") as progress:
                    report = store.archive.restore(path, progress=progress)
                archiving.show(report, "Restored", json)
                continue
            tally = _import(store, path, format, as_json=json)
            tallies.append(tally)
            if not json:
                _show(tally, verbose)
    raise typer.Exit(code_of(tallies))


def code_of(tallies: list[Tally]) -> int:
    """The exit code: a path that can't be read counts, a skipped conversation only when all of them were."""
    if any(tally.unreadable for tally in tallies):
        return exits.UNREADABLE
    conversations = sum(len(tally.outcomes) for tally in tallies)
    skipped = sum(tally.skipped for tally in tallies)
    return exits.FAILED if conversations and conversations == skipped else exits.OK


def _import(store: GraphStore, path: Path, format: str | None, *, as_json: bool) -> Tally:
    tally = Tally(path)
    try:
        with _bar(path) as advance:
            for outcome in store.import_file(path, format=format, progress=advance):
                tally.count(outcome)
                if as_json:
                    output.print_json({"path": str(path), **dict(outcome)})
    except SourceUnreadable as error:
        tally.unreadable = str(error)
        if as_json:
            output.print_json({"path": str(path), "error": type(error).__name__, "message": str(error)})
    except KeyboardInterrupt:
        output.errors().print("Stopped. What was imported is stored; the same command goes on from there.")
        raise
    return tally


@contextmanager
def _bar(path: Path) -> Iterator[Callable[[int, int], None]]:
    err = output.errors()
    if not err.is_terminal:
        yield output.unseen
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bars:
        task = bars.add_task(one_line(path.name), total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _show(tally: Tally, verbose: bool) -> None:
    out, err = output.console(), output.errors()
    name = one_line(str(tally.path))
    if tally.unreadable is not None:
        told = Text("error: ", style="bold red").append(one_line(tally.unreadable), style="not bold default")
        err.print(told, soft_wrap=True)
        return
    count = len(tally.outcomes)
    head = Text(name, style="bold")
    head.append(
        f"  {counted(count - tally.skipped, 'conversation')}, {counted(tally.messages, 'message')}: "
        f"{counted(tally.added, 'node')} added, {tally.known:,} known before",
        style="not bold",
    )
    if tally.skipped:
        head.append(f", {tally.skipped:,} skipped", style="not bold yellow")
    out.print(head, soft_wrap=True)
    named = [one for one in tally.outcomes if verbose or count <= LISTED or one.skipped or repairs(one)]
    for outcome in named if verbose else named[:LISTED]:
        _show_one(outcome, verbose)
    left = count - (len(named) if verbose else min(len(named), LISTED))
    if left:
        out.print(Text(f"  and {left:,} more (graphstore ls lists them; --verbose names each)", style="dim"))
    if tally.repairs and count > 1:
        out.print(Text(f"  met and mended: {_words(tally.repairs)}", style="dim"), soft_wrap=True)


def _show_one(outcome: ImportOutcome, verbose: bool) -> None:
    out = output.console()
    title = one_line(outcome.title or outcome.source_id or "(no title)")
    if outcome.skipped is not None:
        line = Text("  skipped  ", style="yellow")
        line.append(f"{title}: {one_line(outcome.skipped)}", style="default")
    else:
        line = Text(f"  {(outcome.conversation_id or '')[-8:]}  ", style="cyan")
        line.append(title, style="default")
        line.append(f"  {_news(outcome)}", style="dim")
        found = repairs(outcome)
        if found:
            line.append(f"  ({_words(found)})", style="yellow")
    out.print(line, soft_wrap=True)
    for note in outcome.notes if verbose else ():
        out.print(Text(f"      {one_line(note)}", style="dim"), soft_wrap=True)


LEFT = {
    None: "",
    "moved_here": ", cursor left where you moved it",
    "turn_running": ", cursor left where it was: a turn is running",
}


def _news(outcome: ImportOutcome) -> str:
    return _nodes(outcome) + LEFT[outcome.cursor_left]


def _nodes(outcome: ImportOutcome) -> str:
    if outcome.nodes_added and outcome.nodes_known:
        return f"{counted(outcome.nodes_added, 'node')} added to {outcome.nodes_known:,}"
    if outcome.nodes_added:
        return counted(outcome.nodes_added, "node")
    return "nothing new"


def _words(found: dict[str, int]) -> str:
    return ", ".join(f"{count:,} × {word.replace('_', ' ')}" for word, count in sorted(found.items()))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "import",
        rich_help_panel="Change",
        epilog=examples(
            "graphstore import ~/Downloads/chatgpt-export.zip",
            "graphstore import exports/*.json --workspace research --verbose",
            "graphstore import data.jsonl --format openai_jsonl --json | jq 'select(.skipped)'",
        ),
    )(import_)
