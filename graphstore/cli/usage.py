"""``graphstore usage``: tokens and money of a conversation, or of the workspace."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from graphstore.cli import ids, output
from graphstore.cli.opening import opened
from graphstore.cli.options import Json, Workspace, examples
from graphstore.cli.plain import counted, one_line
from graphstore.errors import InvalidInput
from graphstore.models import Spend, UsageReport, UsageTable
from graphstore.prices import has_library
from graphstore.store.usage import prices_of

_NUMBERS = ("calls", "input", "cached", "cache writes", "output", "reasoning", "USD")


class By(StrEnum):
    """What a workspace's usage is told by."""

    MODEL = "model"
    DAY = "day"
    TAG = "tag"


def usage(
    conversation_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A conversation; without one, the whole workspace.")
    ] = None,
    by: Annotated[
        list[By] | None, typer.Option("--by", help="Of a workspace: a line for each; may be repeated.")
    ] = None,
    prices: Annotated[Path | None, typer.Option("--prices", help="A JSON file of your own prices.")] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Show the tokens that calls used and what they cost: of the accepted path, and of what was discarded."""
    if conversation_id is not None and by:
        raise InvalidInput("--by tells of a workspace; leave the conversation out")
    known = prices_of(prices)
    with opened(workspace) as store:
        if conversation_id is None:
            told: UsageReport | UsageTable = store.usage.by(*(column.value for column in by or ()), prices=known)
        else:
            told = store.usage.of(ids.conversation(store, conversation_id), prices=known)
    if json:
        output.print_json(told)
    elif isinstance(told, UsageReport):
        _show_report(told)
    else:
        _show_table(told)
    if not json:
        _say_unknown(told.total)


def _show_report(report: UsageReport) -> None:
    table = output.table("", *_NUMBERS, right=_NUMBERS)
    pots = ("accepted", "running", "discarded", "conversions", "compactions")
    for name in pots:
        spend: Spend = getattr(report, name)
        if spend.calls or name in {"accepted", "discarded"}:
            table.add_row(name, *_numbers(spend))
    table.add_row(*(Text(cell, style="bold") for cell in ("total", *_numbers(report.total))))
    if report.inherited.calls:
        table.add_row(*(Text(cell, style="dim") for cell in ("inherited, in no sum", *_numbers(report.inherited))))
    output.print_table(table)


def _show_table(told: UsageTable) -> None:
    table = output.table(*(told.by or ("",)), *_NUMBERS, right=_NUMBERS)
    for line in told.lines if told.by else ():
        names = {
            "model": "/".join(name for name in (line.provider, line.model) if name) or "(unknown)",
            "day": f"{line.day}",
            "tag": line.tag or "(none)",
        }
        table.add_row(*(Text(one_line(names[column])) for column in told.by), *_numbers(line.spend))
    blanks = [""] * (len(told.by) - 1)
    table.add_row(*(Text(cell, style="bold") for cell in ("total", *blanks, *_numbers(told.total))))
    output.print_table(table)


def _numbers(spend: Spend) -> list[str]:
    tokens = spend.usage
    counts = (
        spend.calls,
        tokens.input_tokens,
        tokens.cached_input_tokens,
        tokens.cache_write_tokens,
        tokens.output_tokens,
        tokens.reasoning_tokens,
    )
    return [*(f"{count:,}" for count in counts), _dollars(spend)]


def _dollars(spend: Spend) -> str:
    """To the hundredth of a cent; a question mark where the price of nothing is known, a plus where some is missing."""
    if spend.known:
        return f"{spend.cost.quantize(Decimal('0.0001')):,}"
    return f"{spend.cost.quantize(Decimal('0.0001')):,} +" if spend.cost else "?"


def _say_unknown(total: Spend) -> None:
    err = output.errors()
    for one in total.unpriced:
        name = one_line("/".join(part for part in (one.provider, one.model) if part) or "(no model recorded)")
        err.print(output.styled(f"unpriced: {name}, {counted(one.calls, 'call')}", "yellow"), soft_wrap=True)
    if total.unpriced and not has_library():
        hint = "no price library is installed: pip install 'conversation-graphstore[prices]', or name --prices"
        err.print(output.styled(hint, "yellow"), soft_wrap=True)
    if total.unreported:
        told = f"no usage was stored of {counted(total.unreported, 'succeeded call')}"
        err.print(output.styled(told, "yellow"), soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "usage",
        rich_help_panel="Look",
        epilog=examples(
            "graphstore usage 3f9a61c2",
            "graphstore usage --by model --by day",
            "graphstore usage --by tag --prices our-prices.json --json",
        ),
    )(usage)
