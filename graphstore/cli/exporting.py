"""``graphstore export``: data sets out of the conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from graphstore.cli import output
from graphstore.cli.opening import opened
from graphstore.cli.options import Json, Workspace, examples
from graphstore.cli.plain import counted, one_line

if TYPE_CHECKING:
    from graphstore.analytics import AnswersReport, ExportReport

export = typer.Typer(help="Make data sets out of the conversations.", no_args_is_help=True)


class Target(StrEnum):
    """The formats of preference pairs."""

    TRL = "trl"


class SftTarget(StrEnum):
    """The formats of answers to train on."""

    OPENAI = "openai"
    TRL = "trl"


def preferences(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write into; made if it isn't there.")],
    as_: Annotated[Target, typer.Option("--as", help="The format of the rows.")] = Target.TRL,
    seed: Annotated[int, typer.Option("--seed", help="Picks the negatives where there are many.")] = 0,
    max_negatives: Annotated[
        int | None, typer.Option("--max-negatives", min=1, help="Rows for one branch point at most.")
    ] = 3,
    include: Annotated[
        list[str] | None, typer.Option("--include", help="Let doubtful choices through; may be repeated.")
    ] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Write preference pairs: where one question got several answers, the one kept and one left behind."""
    # here, not above: the other commands start faster without it
    from graphstore.analytics import export_preferences

    with opened(workspace) as store, _bar() as advance:
        report = export_preferences(
            store,
            out,
            as_=as_.value,
            seed=seed,
            max_negatives=max_negatives,
            include=include or (),
            progress=advance,
        )
    if json:
        output.print_json(asdict(report))
    else:
        _show(report)


class UnpairedTarget(StrEnum):
    """The formats of labelled answers."""

    TRL = "trl"


class EvalTarget(StrEnum):
    """The formats of eval sets."""

    INSPECT = "inspect"


class PromptTarget(StrEnum):
    """The formats of prompts."""

    TRL = "trl"


def unpaired(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write into; made if it isn't there.")],
    as_: Annotated[UnpairedTarget, typer.Option("--as", help="The format of the rows.")] = UnpairedTarget.TRL,
    seed: Annotated[int, typer.Option("--seed", help="Picks the negatives where there are many.")] = 0,
    max_negatives: Annotated[
        int | None, typer.Option("--max-negatives", min=1, help="Negatives of one branch point at most.")
    ] = 3,
    include: Annotated[
        list[str] | None, typer.Option("--include", help="Let doubtful choices through; may be repeated.")
    ] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Write single answers with a label: kept or left behind (for KTO)."""
    from graphstore.analytics import export_unpaired

    with opened(workspace) as store, _bar() as advance:
        report = export_unpaired(
            store,
            out,
            as_=as_.value,
            seed=seed,
            max_negatives=max_negatives,
            include=include or (),
            progress=advance,
        )
    if json:
        output.print_json(asdict(report))
    else:
        _show(report, "answer")


def evals(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write into; made if it isn't there.")],
    as_: Annotated[EvalTarget, typer.Option("--as", help="The format of the samples.")] = EvalTarget.INSPECT,
    include: Annotated[
        list[str] | None, typer.Option("--include", help="Let doubtful choices through; may be repeated.")
    ] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Write eval samples: the kept answer as the reference, those left behind as negatives."""
    from graphstore.analytics import export_evals

    with opened(workspace) as store, _bar() as advance:
        report = export_evals(store, out, as_=as_.value, include=include or (), progress=advance)
    if json:
        output.print_json(asdict(report))
    else:
        _show(report, "sample")


def prompts(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write into; made if it isn't there.")],
    as_: Annotated[PromptTarget, typer.Option("--as", help="The format of the rows.")] = PromptTarget.TRL,
    include: Annotated[
        list[str] | None, typer.Option("--include", help="Let doubtful answers' prompts through; may be repeated.")
    ] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Write what the turns of the accepted paths were asked, each once."""
    from graphstore.analytics import export_prompts

    with opened(workspace) as store, _bar() as advance:
        report = export_prompts(store, out, as_=as_.value, include=include or (), progress=advance)
    if json:
        output.print_json(asdict(report))
    else:
        _show_answers(report, "prompt")


def sft(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write into; made if it isn't there.")],
    as_: Annotated[SftTarget, typer.Option("--as", help="The format of the rows.")] = SftTarget.OPENAI,
    include: Annotated[
        list[str] | None, typer.Option("--include", help="Let doubtful answers through; may be repeated.")
    ] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Write the answers of the accepted paths, each to be trained on once."""
    from graphstore.analytics import export_sft

    with opened(workspace) as store, _bar() as advance:
        report = export_sft(store, out, as_=as_.value, include=include or (), progress=advance)
    if json:
        output.print_json(asdict(report))
    else:
        _show_answers(report)


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    err = output.errors()
    if not err.is_terminal:
        yield output.unseen
        return
    columns = (SpinnerColumn(), TextColumn("conversations"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err, transient=True) as bars:
        task = bars.add_task("", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _show(report: ExportReport, noun: str = "pair") -> None:
    told = "" if noun == "pair" else f"{counted(report.written, noun)} made of "
    told += f"{counted(report.rows, 'pair')} from {counted(report.conversations, 'conversation')}"
    told += f" ({counted(report.candidates, 'candidate')})"
    _tell(told, report.left_out, report.files)


def _show_answers(report: AnswersReport, noun: str = "answer") -> None:
    told = f"{counted(report.answers, noun)} in {counted(report.rows, 'row')}"
    told += f" from {counted(report.conversations, 'conversation')} ({counted(report.candidates, 'candidate')})"
    _tell(told, report.left_out, report.files)


def _tell(told: str, left_out: Mapping[str, int], files: Sequence[Path]) -> None:
    out = output.console()
    out.print(Text(told, style="bold"), soft_wrap=True)
    for reason, count in sorted(left_out.items(), key=lambda pair: -pair[1]):
        if count:
            out.print(Text(f"  left out {count:>7,}  {reason.replace('_', ' ')}", style="dim"), soft_wrap=True)
    for file in files:
        out.print(Text(f"  {one_line(str(file))}"), soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the group."""
    export.command(
        "preferences",
        epilog=examples(
            "graphstore export preferences --as trl --out pairs/",
            "graphstore export preferences --out pairs/ --include guessed_cursor --json | jq .rows",
        ),
    )(preferences)
    export.command(
        "sft",
        epilog=examples(
            "graphstore export sft --as openai --out answers/",
            "graphstore export sft --as trl --out answers/ --json | jq .left_out",
        ),
    )(sft)
    export.command("unpaired", epilog=examples("graphstore export unpaired --as trl --out labelled/"))(unpaired)
    export.command("prompts", epilog=examples("graphstore export prompts --as trl --out prompts/"))(prompts)
    export.command("evals", epilog=examples("graphstore export evals --as inspect --out samples/"))(evals)
    app.add_typer(export, name="export", rich_help_panel="Change")


@export.callback()
def _group() -> None:
    pass
