"""What calls cost: the user's table, the library's, and tokens that are counted once (rules U1, U3)."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from decimal import Decimal

import genai_prices
import pytest
from genai_prices.data_snapshot import get_snapshot

from graphstore import Prices, Usage
from graphstore.errors import InvalidInput
from graphstore.prices import tokens_of

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def cost(prices, model, at=NOW, provider=None, **usage):
    return prices.cost(provider, model, at, Usage(**usage))


@pytest.mark.rule("U3")
def test_a_table_of_ones_own_stands_over_the_librarys_and_is_decimal():
    own = Prices({"gpt-5": {"input": "0.1", "output": 0.2}})
    assert cost(own, "gpt-5", input_tokens=3, output_tokens=1) == Decimal("0.0000005")
    assert cost(own, "gpt-5", provider="openai", input_tokens=1) == Decimal("0.0000001")
    assert cost(Prices(), "gpt-5", input_tokens=1_000_000) == Decimal("1.25")


@pytest.mark.rule("U3")
def test_the_price_is_that_of_the_day_of_the_call():
    own = Prices(
        {
            "m": [
                {"from": "2026-03-01", "input": "1", "output": "1"},
                {"from": "2026-05-01T12:00:00+00:00", "input": "2", "output": "1"},
            ]
        },
        library=False,
    )
    at = {
        day: cost(own, "m", datetime(2026, *day, tzinfo=UTC), input_tokens=10**6) for day in ((2, 28), (3, 1), (5, 2))
    }
    assert at == {(2, 28): None, (3, 1): 1, (5, 2): 2}
    before = datetime(2026, 5, 1, 11, 59, tzinfo=UTC)
    assert cost(own, "m", before, input_tokens=10**6) == 1


@pytest.mark.rule("U3")
def test_before_its_first_date_a_table_leaves_the_price_to_the_library():
    own = Prices({"gpt-5": {"from": "2030-01-01", "input": "9", "output": "9"}})
    assert cost(own, "gpt-5", input_tokens=1_000_000) == Decimal("1.25")


@pytest.mark.rule("U3")
def test_the_longest_name_that_fits_gives_the_price():
    own = Prices(
        {
            "m*": {"input": "1", "output": "1"},
            "m-large*": {"input": "2", "output": "1"},
            "azure/m-large": {"input": "3", "output": "1"},
        },
        library=False,
    )
    million = {"input_tokens": 10**6}
    assert cost(own, "m-small", **million) == 1
    assert cost(own, "M-Large-2026", **million) == 2
    assert cost(own, "m-large", provider="azure", **million) == 3
    assert cost(own, "other", **million) is None


@pytest.mark.rule("U1", "U3")
def test_every_kind_of_token_has_its_own_price():
    own = Prices(
        {"m": {"input": "1", "cached_input": "0.1", "cache_write": "1.25", "output": "10", "reasoning": "20"}},
        library=False,
    )
    usage = {
        "input_tokens": 1000,
        "cached_input_tokens": 300,
        "cache_write_tokens": 200,
        "output_tokens": 50,
        "reasoning_tokens": 30,
    }
    assert cost(own, "m", **usage) == Decimal(500 + 30 + 250 + 200 + 600) / 10**6


@pytest.mark.rule("U1", "U3")
@pytest.mark.parametrize(
    ("provider", "model", "plain_input", "plain_output"),
    [
        ("openai", "gpt-5", 500, 60),
        ("anthropic", "claude-opus-5", 900, 60),
        ("bedrock", "claude-opus-5", 900, 60),
        (None, "claude-opus-5", 900, 60),
        ("openrouter", "anthropic/claude-opus-5", 500, 60),
        ("gemini", "gemini-3-pro", 500, 100),
        ("google", "claude-opus-5", 900, 60),
    ],
)
def test_parts_are_taken_out_of_their_whole_only_where_the_provider_counts_them_in_it(
    provider, model, plain_input, plain_output
):
    usage = Usage(
        input_tokens=900, cached_input_tokens=300, cache_write_tokens=100, output_tokens=100, reasoning_tokens=40
    )
    told = tokens_of(usage, provider, model)
    assert (told.input, told.output) == (plain_input, plain_output)
    assert (told.cached_input, told.cache_write, told.reasoning) == (300, 100, 40)


@pytest.mark.rule("U3")
def test_parts_greater_than_their_whole_are_beside_it():
    told = tokens_of(Usage(input_tokens=10, cached_input_tokens=900, output_tokens=1, reasoning_tokens=9), "x", "y")
    assert (told.input, told.output) == (10, 1)


@pytest.mark.rule("U3")
def test_costs_are_those_that_the_library_works_out_itself():
    random.seed(7)
    compared = 0
    for provider in get_snapshot().providers:
        if provider.id not in {"openai", "anthropic", "google", "deepseek", "mistral", "x-ai", "perplexity"}:
            continue
        for model in provider.models:
            cached, written, fresh = (random.choice((0, random.randrange(400_000))) for _ in range(3))
            output = random.randrange(10_000)
            asked = genai_prices.Usage(
                input_tokens=fresh + cached + written,
                cache_read_tokens=cached,
                cache_write_tokens=written,
                output_tokens=output,
            )
            apart = provider.id == "anthropic" or (provider.id == "google" and "claude" in model.id)
            whole = 0 if apart else cached + written
            ours = cost(
                Prices(),
                model.id,
                provider=provider.id,
                input_tokens=fresh + whole,
                cached_input_tokens=cached,
                cache_write_tokens=written,
                output_tokens=output,
            )
            if ours is None:
                continue
            theirs = model.calc_price(asked, provider, genai_request_timestamp=NOW)
            assert ours == theirs.total_price, (provider.id, model.id)
            compared += 1
    assert compared > 100


@pytest.mark.rule("U3")
@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([], "an object of models"),
        ({"m": 3}, "an object, or a list"),
        ({"m": {"input": "1"}}, "'output' of 'm'"),
        ({"m": {"input": "-1", "output": "1"}}, "'input' of 'm'"),
        ({"m": {"input": "NaN", "output": "1"}}, "'input' of 'm'"),
        ({"m": {"input": True, "output": "1"}}, "'input' of 'm'"),
        ({"m": {"input": "1", "output": "1", "cache": "1"}}, "name 'cache'"),
        ({"m": {"from": "soon", "input": "1", "output": "1"}}, "begin at 'soon'"),
        ({"m": [{"input": "1", "output": "1"}, {"input": "2", "output": "1"}]}, "two prices"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused_with_what_is_wrong(table, words):
    with pytest.raises(InvalidInput, match=words):
        Prices(table)
