"""What a call costs, in US dollars (rule U3): tokens that cost alike, and the price of each at a time.

A user's own table stands over the library ``genai-prices``. Every number is a ``Decimal``; a model that neither knows
has no price, which isn't a price of zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from graphstore.errors import InvalidInput
from graphstore.models import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

EXACT = Context(prec=100)
"""Wide enough that no sum or product of tokens and prices is ever rounded."""

ZERO = Decimal(0)
_MILLION = 6


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a call, each counted in one field only."""

    input: int
    cached_input: int
    cache_write: int
    cache_write_1h: int
    output: int
    reasoning: int

    @property
    def sent(self) -> int:
        """All tokens that went in; some models cost more when these are many."""
        return self.input + self.cached_input + self.cache_write + self.cache_write_1h


def tokens_of(usage: Usage, provider: str | None, model: str | None) -> Tokens:
    """The tokens of a usage told apart, whatever its provider counts within what.

    Anthropic reports cached and cache-write tokens beside the input, others within it; Google reports reasoning beside
    the output, others within it. Sources: https://platform.claude.com/docs/en/build-with-claude/prompt-caching,
    https://platform.openai.com/docs/guides/prompt-caching, https://ai.google.dev/gemini-api/docs/thinking. Parts that
    come to more than their whole can't be within it. An hour's cache writes are told by ``cache_write_1h_tokens``, a
    part of ``cache_write_tokens``.
    """
    cached, written = usage.cached_input_tokens, usage.cache_write_tokens
    hour = min(written, _count((usage.model_extra or {}).get("cache_write_1h_tokens")))
    fresh = usage.input_tokens
    if not (_counts_cache_apart(provider, model) or cached + written > fresh):
        fresh -= cached + written
    plain = usage.output_tokens
    if not (_counts_reasoning_apart(provider, model) or usage.reasoning_tokens > plain):
        plain -= usage.reasoning_tokens
    return Tokens(fresh, cached, written - hour, hour, plain, usage.reasoning_tokens)


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _counts_cache_apart(provider: str | None, model: str | None) -> bool:
    named = (provider or "").lower()
    if any(word in named for word in ("anthropic", "bedrock", "aws")):
        return True
    return "claude" in (model or "").lower() and (not named or "google" in named or "vertex" in named)


def _counts_reasoning_apart(provider: str | None, model: str | None) -> bool:
    named = (provider or "").lower()
    if any(word in named for word in ("google", "gemini", "vertex")):
        return "claude" not in (model or "").lower()
    return not named and "gemini" in (model or "").lower()


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices in dollars for a million tokens; ``call`` is for each call, whatever its tokens."""

    input: Decimal
    output: Decimal
    cached_input: Decimal
    cache_write: Decimal
    cache_write_1h: Decimal
    reasoning: Decimal
    call: Decimal = ZERO

    def cost(self, tokens: Tokens) -> Decimal:
        """What a call of these tokens costs, exactly."""
        total = ZERO
        for count, price in (
            (tokens.input, self.input),
            (tokens.cached_input, self.cached_input),
            (tokens.cache_write, self.cache_write),
            (tokens.cache_write_1h, self.cache_write_1h),
            (tokens.output, self.output),
            (tokens.reasoning, self.reasoning),
        ):
            if count:
                total = EXACT.add(total, EXACT.multiply(price, Decimal(count)))
        return EXACT.add(total.scaleb(-_MILLION, EXACT), self.call)


class Prices:
    """Prices by model and date: a table of one's own over the library's.

    ``table`` maps a model, ``provider/model``, or the beginning of either with ``*`` after it, to its prices or to a
    list of prices with dates: ``{"gpt-5": [{"input": "1.25", "output": "10"}, {"from": "2026-01-01", …}]}``. Prices are
    dollars for a million tokens: ``input`` and ``output``, and where they differ ``cached_input``, ``cache_write``,
    ``cache_write_1h`` (both else as input) and ``reasoning`` (else as output). The longest name that fits counts.
    Where the table has none for the time of a call, the library is asked, if ``library``. Raises ``InvalidInput``.
    """

    def __init__(self, table: Mapping[str, Any] | None = None, *, library: bool = True) -> None:
        self._own = {name.lower(): _dated(name, entry) for name, entry in _items(table)}
        self._library = _Library() if library else None

    def cost(self, provider: str | None, model: str | None, at: datetime, usage: Usage) -> Decimal | None:
        """What a call at a time cost; ``None``: its price isn't known."""
        if model is None:
            return None
        tokens = tokens_of(usage, provider, model)
        rates = self._own_rates(provider, model, at)
        if rates is None and self._library is not None:
            rates = self._library.rates(provider, model, at, tokens.sent)
        return None if rates is None else rates.cost(tokens)

    def _own_rates(self, provider: str | None, model: str, at: datetime) -> Rates | None:
        if not self._own:
            return None
        names = [model.lower()] if provider is None else [f"{provider}/{model}".lower(), model.lower()]
        for known in sorted(self._own, key=len, reverse=True):
            if any(name == known or (known[-1:] == "*" and name.startswith(known[:-1])) for name in names):
                for since, rates in self._own[known]:
                    if since is None or since <= at:
                        return rates
        return None


class _Library:
    """Prices of ``genai-prices``, as far as it is installed; its models are looked up once."""

    def __init__(self) -> None:
        self._models: dict[tuple[str | None, str], ModelInfo | None] = {}
        self._flat: dict[int, Rates | None] = {}

    def rates(self, provider: str | None, model: str, at: datetime, sent: int) -> Rates | None:
        key = (provider, model)
        if key not in self._models:
            self._models[key] = _model_of(provider, model)
        found = self._models[key]
        if found is None:
            return None
        price = found.get_prices(at)
        if id(price) not in self._flat:
            rates, tiered = _rates_of(price, sent)
            if tiered:
                return rates
            self._flat[id(price)] = rates  # the library keeps its prices, so an id stays one price's
        return self._flat[id(price)]


def has_library() -> bool:
    """Whether ``genai-prices`` is installed."""
    try:
        import genai_prices  # noqa: F401 - whether it is there is the question
    except ModuleNotFoundError:
        return False
    return True


def _model_of(provider: str | None, model: str) -> ModelInfo | None:
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ModuleNotFoundError:
        return None
    try:
        return get_snapshot().find_provider_model(model, None, provider, None)[1]
    except LookupError:
        return None


def _rates_of(price: ModelPrice, sent: int) -> tuple[Rates | None, bool]:
    """The rates of a call of so many tokens, and whether they depend on these."""
    from genai_prices.types import TieredPrices

    tiered = any(isinstance(value, TieredPrices) for value in vars(price).values())

    def at_size(name: str) -> Decimal | None:
        value: Decimal | TieredPrices | None = getattr(price, name, None)
        if isinstance(value, TieredPrices):
            reached = [tier.price for tier in value.tiers if sent > tier.start]
            return reached[-1] if reached else value.base
        return value

    into, out = at_size("input_mtok"), at_size("output_mtok")
    if into is None or out is None:
        return None, tiered  # priced by something else than tokens
    write = at_size("cache_write_mtok")
    by_call = at_size("requests_kcount")
    rates = _rates(
        into,
        out,
        at_size("cache_read_mtok"),
        write,
        at_size("cache_write_1h_mtok"),
        at_size("output_reasoning_mtok"),
        ZERO if by_call is None else by_call.scaleb(-3, EXACT),
    )
    return rates, tiered


def _rates(
    into: Decimal,
    out: Decimal,
    cached: Decimal | None,
    write: Decimal | None,
    write_1h: Decimal | None,
    reasoning: Decimal | None,
    call: Decimal = ZERO,
) -> Rates:
    write = into if write is None else write
    return Rates(
        input=into,
        output=out,
        cached_input=into if cached is None else cached,
        cache_write=write,
        cache_write_1h=write if write_1h is None else write_1h,
        reasoning=out if reasoning is None else reasoning,
        call=call,
    )


_OPTIONAL = ("cached_input", "cache_write", "cache_write_1h", "reasoning")


def _items(table: Mapping[str, Any] | None) -> Iterator[tuple[str, Any]]:
    if table is not None and not isinstance(table, Mapping):
        raise InvalidInput(f"a price table is an object of models, not {type(table).__name__}")
    yield from (table or {}).items()


def _dated(name: str, entry: Any) -> list[tuple[datetime | None, Rates]]:
    """The prices of one model, newest first."""
    entries = entry if isinstance(entry, list) else [entry]
    found: dict[datetime | None, Rates] = {}
    for one in entries:
        if not isinstance(one, Mapping):
            raise InvalidInput(f"the prices of {name!r} are an object, or a list of objects, not {one!r:.80}")
        unknown = one.keys() - {"from", "input", "output", *_OPTIONAL}
        if unknown:
            known = ", ".join(("from", "input", "output", *_OPTIONAL))
            raise InvalidInput(f"the prices of {name!r} name {min(unknown)!r}; known are {known}")
        since = _since(name, one.get("from"))
        if since in found:
            raise InvalidInput(f"two prices of {name!r} begin at {one.get('from') or 'the same time (none)'}")
        cached, write, write_1h, reasoning = (
            None if one.get(part) is None else _price(name, part, one[part]) for part in _OPTIONAL
        )
        into, out = _price(name, "input", one.get("input")), _price(name, "output", one.get("output"))
        found[since] = _rates(into, out, cached, write, write_1h, reasoning)
    earliest = datetime.min.replace(tzinfo=UTC)
    return sorted(found.items(), key=lambda dated: dated[0] or earliest, reverse=True)


def _since(name: str, value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        since = datetime.fromisoformat(str(value))
    except ValueError:
        raise InvalidInput(f"the prices of {name!r} begin at {value!r}; give a date such as 2026-01-31") from None
    return since if since.tzinfo is not None else since.replace(tzinfo=UTC)


def _price(name: str, part: str, value: Any) -> Decimal:
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        price = Decimal("NaN")
    if isinstance(value, bool) or not price.is_finite() or price < 0:
        raise InvalidInput(
            f"{part!r} of {name!r} is {value!r}; give a price in dollars for a million tokens, such as '1.25'"
        )
    return price
