"""``graphstore usage``: tables for people, JSON for programs, and what isn't known said aloud."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest


@pytest.fixture
def priced(store, tmp_path):
    """A conversation with an abandoned answer and a call of a model without a price; and a file of prices."""
    id = store.create_conversation(title="Revenue", metadata={"tag": "finance"})
    with store.turn(id) as turn:
        turn.call("Q", model="m").succeed("A", usage={"input_tokens": 1_000_000})
    turn = store.regenerate(id, model="house")
    turn.current.succeed("A2", usage={"input_tokens": 7}, end_turn=True)
    prices = tmp_path / "prices.json"
    prices.write_text('{"m": {"input": "2.5", "output": "1"}}')
    return id, str(prices)


@pytest.mark.rule("U2", "U3", "L3")
def test_usage_of_a_conversation_shows_each_part_and_lists_what_has_no_price(cli, priced):
    id, prices = priced
    told = json.loads(cli("usage", id, "--prices", prices, "--json").out)
    assert (Decimal(told["discarded"]["cost"]), told["discarded"]["usage"]["input_tokens"]) == (Decimal("2.5"), 10**6)
    assert told["accepted"]["unpriced"][0]["model"] == "house"
    shown = cli("usage", id, "--prices", prices)
    lines = {line.split()[0]: line.split() for line in shown.out.splitlines()[1:]}
    assert lines["accepted"][-1] == "?"
    assert lines["discarded"][-1] == "2.5000"
    assert lines["total"][-2:] == ["2.5000", "+"]
    assert "unpriced: house, 1 call" in shown.err


@pytest.mark.rule("U4", "L3")
def test_usage_of_the_workspace_has_a_line_for_each_model_and_tag(cli, priced):
    _, prices = priced
    told = json.loads(cli("usage", "--by", "model", "--by", "tag", "--prices", prices, "--json").out)
    assert [(line["model"], line["tag"], line["spend"]["calls"]) for line in told["lines"]] == [
        ("house", "finance", 1),
        ("m", "finance", 1),
    ]
    shown = cli("usage", "--by", "day", "--prices", prices)
    assert (shown.code, len(shown.out.splitlines())) == (0, 3)


@pytest.mark.rule("L3")
def test_usage_refuses_what_makes_no_sense_in_one_sentence(cli, priced, tmp_path):
    both = cli("usage", priced[0], "--by", "day")
    assert (both.code, both.out) == (2, "")
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"m": {"input": "x", "output": 1}}')
    refused = cli("usage", "--prices", str(wrong))
    assert (refused.code, "'input' of 'm' is 'x'" in refused.err) == (2, True)
