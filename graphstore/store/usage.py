"""Usage and money of a conversation and of a workspace (rules U1 to U4).

Usage is stored as each provider reported it, and priced call by call: some models cost more when a call is long, and
prices change from one day to the next.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, get_args

from graphstore import jsontext, queries
from graphstore.errors import ConversationNotFound, InvalidInput
from graphstore.models import UsageLine, UsageReport, UsageTable
from graphstore.prices import Prices
from graphstore.store.session import Session
from graphstore.tally import Tally, Used, used

Column = Literal["model", "day", "tag"]
COLUMNS: tuple[Column, ...] = get_args(Column)

PricesInput = Prices | Mapping[str, Any] | Path | str | None
"""A price table: prices, a mapping as ``Prices`` takes, a JSON file of one, or ``None`` for the library's alone."""


class UsageAccounts:
    """What calls used and cost: ``store.usage``."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, conversation_id: str, *, prices: PricesInput = None) -> UsageReport:
        """What a conversation used: on its accepted path, in what was discarded, in side jobs and compactions.

        ``total`` is the sum over all calls that the conversation owns, exactly; ``inherited`` is the shared prefix that
        others own, and in no sum. Hidden branches count as discarded. Raises ``ConversationNotFound``,
        ``InvalidInput`` for a price table that can't be read.
        """
        known = prices_of(prices)
        row = self._session.row(queries.USAGE_OF_CONVERSATION, conversation_id=conversation_id)
        if row is None:
            raise ConversationNotFound(conversation_id, self._session.workspace)
        path = frozenset(row["path"])
        pots = {name: Tally() for name in ("accepted", "running", "discarded", "conversions", "compactions")}
        for kind, running, provider, model, status, ids, times, usages in row["owned"]:
            for node_id, call in zip(ids, used(known, provider, model, status, times, usages), strict=True):
                pots[_pot(kind, node_id in path, running)].add(call)
        inherited, total = Tally(), Tally()
        for provider, model, status, times, usages in row["inherited"]:
            for call in used(known, provider, model, status, times, usages):
                inherited.add(call)
        for tally in pots.values():
            total.add_all(tally)
        return UsageReport(
            conversation_id=conversation_id,
            **{name: tally.spend() for name, tally in pots.items()},
            total=total.spend(),
            inherited=inherited.spend(),
        )

    def by(
        self,
        *columns: Column,
        since: datetime | None = None,
        until: datetime | None = None,
        prices: PricesInput = None,
    ) -> UsageTable:
        """What the workspace used, a line for each ``model``, ``day`` (UTC) or ``tag``, or each combination asked for.

        A conversation's tags are its metadata's ``tag`` (a string) or ``tags`` (several); with several it counts in
        each of their lines, and once in ``total``. Only calls begun from ``since`` on and before ``until``. Raises
        ``InvalidInput``.
        """
        for column in columns:
            if column not in COLUMNS:
                raise InvalidInput(f"usage is told by {', '.join(COLUMNS)}, not by {column!r}")
        known = prices_of(prices)
        lines: dict[tuple[Any, ...], Tally] = {}
        total = Tally()
        for row in self._session.database.stream(
            queries.USAGE_OF_WORKSPACE, workspace=self._session.workspace, since=_time(since), until=_time(until)
        ):
            tags = tags_of(row["metadata"]) if "tag" in columns else (None,)
            calls = used(known, row["provider"], row["model"], row["status"], row["times"], row["usages"])
            for call in calls:
                total.add(call)
                for tag in tags:
                    lines.setdefault(_line(call, tag, columns), Tally()).add(call)
        told = [
            UsageLine(provider=provider, model=model, day=day, tag=tag, spend=tally.spend())
            for (provider, model, day, tag), tally in lines.items()
        ]
        told.sort(key=lambda line: (line.day or date.min, line.tag or "", line.provider or "", line.model or ""))
        return UsageTable(by=columns, lines=tuple(told), total=total.spend())


def _pot(kind: str, on_path: bool, running: bool) -> str:
    if kind == "compaction":
        return "compactions"
    if kind == "conversion":
        return "conversions"
    if on_path:
        return "accepted"
    return "running" if running else "discarded"


def _line(call: Used, tag: str | None, columns: tuple[Column, ...]) -> tuple[str | None, str | None, date | None, Any]:
    by_model = "model" in columns
    return (
        call.provider if by_model else None,
        call.model if by_model else None,
        call.at.date() if "day" in columns else None,
        tag,
    )


def tags_of(metadata: str | None) -> tuple[str | None, ...]:
    """The tags that a conversation's metadata names; one ``None`` when it names none."""
    found = jsontext.loads(metadata) if metadata else {}
    tags = found.get("tags")
    named = [found.get("tag"), *(tags if isinstance(tags, list) else [])]
    return tuple(dict.fromkeys(tag for tag in named if isinstance(tag, str))) or (None,)


def _time(value: datetime | None) -> datetime | None:
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def prices_of(given: PricesInput) -> Prices:
    """Prices from what a caller names. Raises ``InvalidInput``."""
    if isinstance(given, Prices):
        return given
    if not isinstance(given, Path | str):
        return Prices(given)
    try:
        table = json.loads(Path(given).read_text("utf-8"), parse_float=Decimal)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the price table {str(given)!r} can't be read: {error}") from None
    return Prices(table)
