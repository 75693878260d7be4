"""Calls summed up: how many, their tokens, their cost, and what isn't known of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from graphstore import jsontext
from graphstore.models import Spend, Unpriced, Usage
from graphstore.prices import EXACT, ZERO, Prices

_FIELDS = tuple(Usage.model_fields)
_NONE = (0,) * len(_FIELDS)

Counts = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Used:
    """What one call used, with its price looked up: ``usage`` is ``None`` where none was stored."""

    provider: str | None
    model: str | None
    at: datetime
    usage: Usage | None
    succeeded: bool
    cost: Decimal | None


def used(
    prices: Prices,
    provider: str | None,
    model: str | None,
    status: str,
    times: Sequence[int],
    usages: Sequence[str],
) -> Iterable[Used]:
    """Calls of one model from their stored times (seconds since 1970) and usages (JSON; empty: none)."""
    for seconds, text in zip(times, usages, strict=True):
        at = datetime.fromtimestamp(seconds, UTC)
        usage = Usage.model_validate(jsontext.loads(text)) if text else None
        cost = None if usage is None else prices.cost(provider, model, at, usage)
        yield Used(provider, model, at, usage, status == "succeeded", cost)


@dataclass
class Tally:
    """A sum in the making; the order in which calls are added doesn't matter."""

    calls: int = 0
    counts: Counts = _NONE
    cost: Decimal = ZERO
    unreported: int = 0
    unpriced: dict[tuple[str | None, str | None], tuple[int, Counts]] = field(default_factory=dict)

    def add(self, call: Used) -> None:
        """Count a call."""
        self.calls += 1
        if call.usage is None:
            self.unreported += call.succeeded
            return
        counts = tuple(getattr(call.usage, name) for name in _FIELDS)
        self.counts = _added(self.counts, counts)
        if call.cost is None:
            self._add_unpriced((call.provider, call.model), 1, counts)
        else:
            self.cost = EXACT.add(self.cost, call.cost)

    def add_all(self, other: Tally) -> None:
        """Count what another has counted."""
        self.calls += other.calls
        self.counts = _added(self.counts, other.counts)
        self.cost = EXACT.add(self.cost, other.cost)
        self.unreported += other.unreported
        for model, (calls, counts) in other.unpriced.items():
            self._add_unpriced(model, calls, counts)

    def _add_unpriced(self, model: tuple[str | None, str | None], calls: int, counts: Counts) -> None:
        before, summed = self.unpriced.get(model, (0, _NONE))
        self.unpriced[model] = (before + calls, _added(summed, counts))

    def spend(self) -> Spend:
        """The sum."""
        unpriced = sorted(self.unpriced.items(), key=lambda entry: tuple(name or "" for name in entry[0]))
        return Spend(
            calls=self.calls,
            usage=_usage(self.counts),
            cost=self.cost,
            unreported=self.unreported,
            unpriced=tuple(
                Unpriced(provider=provider, model=model, calls=calls, usage=_usage(counts))
                for (provider, model), (calls, counts) in unpriced
            ),
        )


def _added(one: Counts, other: Counts) -> Counts:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _usage(counts: Counts) -> Usage:
    return Usage(**dict(zip(_FIELDS, counts, strict=True)))
