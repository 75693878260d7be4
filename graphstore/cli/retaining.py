"""``graphstore retention``: what may go after a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.text import Text

from graphstore.cli import output
from graphstore.cli.opening import opened
from graphstore.cli.options import Json, Workspace, examples
from graphstore.cli.plain import counted, one_line
from graphstore.cli.removing import Yes
from graphstore.errors import InvalidInput
from graphstore.models import RetentionRules, RetentionStep

retention = typer.Typer(help="Remove what is old, by rules, after a dry run.", no_args_is_help=True)

OlderThan = Annotated[float, typer.Option("--older-than", min=0, metavar="DAYS", help="Days since the last change.")]
Tag = Annotated[list[str] | None, typer.Option("--tag", help="Only conversations with this tag; may be repeated.")]
KeepTag = Annotated[list[str] | None, typer.Option("--keep-tag", help="Conversations with this tag stay.")]
KeepLabel = Annotated[list[str] | None, typer.Option("--keep-label", help="Those with a node so labelled stay.")]
AbandonedOnly = Annotated[
    bool, typer.Option("--abandoned-only", help="Conversations stay; only branches off their accepted paths go.")
]


def plan(
    older_than: OlderThan,
    tag: Tag = None,
    keep_tag: KeepTag = None,
    keep_label: KeepLabel = None,
    abandoned_only: AbandonedOnly = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Say what would go, what would stay, and why; nothing is changed."""
    with opened(workspace) as store:
        _show(store.retention.plan(_rules(older_than, tag, keep_tag, keep_label, abandoned_only)), "goes", json)


def apply(
    older_than: OlderThan,
    tag: Tag = None,
    keep_tag: KeepTag = None,
    keep_label: KeepLabel = None,
    abandoned_only: AbandonedOnly = False,
    yes: Yes = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Remove what the plan lets go, for good; interrupted, the same command goes on."""
    rules = _rules(older_than, tag, keep_tag, keep_label, abandoned_only)
    with opened(workspace) as store:
        if not yes:
            if json or not output.errors().is_terminal:
                raise InvalidInput("this removes data for good and there is nobody here to ask; say --yes")
            going = sum(step.goes for step in store.retention.plan(rules))
            typer.confirm(f"Remove {going:,} conversations or branches for good?", abort=True, err=True)
        _show(store.retention.apply(rules), "gone", json)


def _rules(
    older_than: float, tag: list[str] | None, keep_tag: list[str] | None, keep_label: list[str] | None, only: bool
) -> RetentionRules:
    return RetentionRules(
        older_than_days=older_than,
        tags=tuple(tag or ()),
        keep_tags=tuple(keep_tag or ()),
        keep_labels=tuple(keep_label or ()),
        abandoned_only=only,
    )


def _show(steps: Iterable[RetentionStep], word: str, json: bool) -> None:
    if json:
        output.print_json_list(steps)
        return
    out = output.console()
    going = nodes = 0
    for step in steps:
        going, nodes = going + step.goes, nodes + (step.nodes if step.goes else 0)
        line = Text(f"{word if step.goes else 'stays':<6}", style="yellow" if step.goes else "dim")
        branch = "" if step.node_id is None else f" branch {one_line(step.node_id)}"
        line.append(f"{one_line(step.conversation_id)}{branch}  {one_line(step.why)}", style="default")
        out.print(line, soft_wrap=True)
    out.print(Text(f"{going:,} {word}, with {counted(nodes, 'node')}", style="bold"))


def register(app: typer.Typer) -> None:
    """Add the group."""
    retention.command(
        "plan",
        epilog=examples(
            "graphstore retention plan --older-than 365 --keep-tag legal",
            "graphstore retention plan --older-than 30 --abandoned-only --json",
        ),
    )(plan)
    retention.command("apply", epilog=examples("graphstore retention apply --older-than 365 --keep-tag legal --yes"))(
        apply
    )
    app.add_typer(retention, name="retention", rich_help_panel="Take away")
