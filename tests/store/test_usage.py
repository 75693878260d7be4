"""Usage and money, of a conversation and of a workspace (rules U1 to U4)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from conversing import answered, ask, talk

from graphstore import Usage, errors

PRICES = {"m": {"input": "1", "output": "10", "cached_input": "0.1"}}
POTS = ("accepted", "running", "discarded", "conversions", "compactions")


def spent(store, conversation_id, question, *tokens, **options):
    """A turn of one call with (input, output) tokens."""
    with store.turn(conversation_id) as turn:
        call = turn.call(question, **{"model": "m", **options})
        call.succeed("A", usage={"input_tokens": tokens[0], "output_tokens": tokens[1]})
    return call.id


@pytest.fixture
def lived(store):
    """A conversation with everything in it; each call's input is another power of two, so that sums tell which."""
    conversation_id = store.create_conversation(metadata={"tag": "work"})
    first = spent(store, conversation_id, "Q1", 1, 1)
    spent(store, conversation_id, "Q2", 2, 1)
    turn = store.regenerate(conversation_id, model="m")
    turn.current.succeed("A2b", usage={"input_tokens": 4, "output_tokens": 1}, end_turn=True)
    with store.turn(conversation_id) as failing:
        failing.call("Q3", model="m").fail("rate_limit", usage={"input_tokens": 8})
    store.switch(conversation_id, first)
    store.switch(conversation_id, turn.last_id)
    with store.conversion(conversation_id, model="m") as job:
        job.call("convert").succeed("draft", usage={"input_tokens": 16})
    store.compact(conversation_id, "summary", model="m", usage={"input_tokens": 32})
    spent(store, conversation_id, "Q4", 64, 1)
    return conversation_id, first


def inputs(report):
    return {name: getattr(report, name).usage.input_tokens for name in POTS}


@pytest.mark.rule("U1", "U2")
def test_a_conversation_tells_what_was_accepted_discarded_and_done_aside(store, lived):
    report = store.usage.of(lived[0], prices=PRICES)
    assert inputs(report) == {
        "accepted": 1 + 4 + 8 + 64,
        "running": 0,
        "discarded": 2,
        "conversions": 16,
        "compactions": 32,
    }
    assert report.accepted.calls == 4
    assert report.inherited.calls == 0


@pytest.mark.rule("U2", "U3")
def test_the_total_is_the_sum_of_the_parts_and_of_every_call_exactly(store, lived, cypher):
    report = store.usage.of(lived[0], prices=PRICES)
    stored = [
        json.loads(row["usage"])
        for row in cypher("MATCH (n:Node {workspace: $workspace}) RETURN coalesce(n.usage, '{}') AS usage")
    ]
    assert report.total.calls == len(stored) == sum(getattr(report, name).calls for name in POTS)
    for name in Usage.model_fields:
        assert getattr(report.total.usage, name) == sum(usage.get(name, 0) for usage in stored)
    assert report.total.cost == sum(getattr(report, name).cost for name in POTS)
    whole = sum(usage.get("input_tokens", 0) + 10 * usage.get("output_tokens", 0) for usage in stored)
    assert report.total.cost == Decimal(whole) / 10**6
    assert report.total.known


@pytest.mark.rule("U2")
def test_what_a_tombstone_hides_was_paid_for_all_the_same(store, lived):
    conversation_id, _ = lived
    before = store.usage.of(conversation_id)
    hidden = next(node for node in store.tree(conversation_id) if node.usage and node.usage.input_tokens == 2)
    assert store.tombstone(hidden.id) == 1
    after = store.usage.of(conversation_id)
    assert after == before
    store.purge(hidden.id)
    assert store.usage.of(conversation_id).discarded.calls == 0


@pytest.mark.rule("U2")
def test_a_running_turn_is_neither_accepted_nor_discarded(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    turn = store.turn(conversation_id)
    turn.call("Q2", model="m").succeed("thinking", usage={"input_tokens": 5})
    report = store.usage.of(conversation_id)
    assert (report.running.usage.input_tokens, report.accepted.calls, report.discarded.calls) == (5, 1, 0)
    turn.call("more").succeed("A2", usage={"input_tokens": 6}, end_turn=True)
    report = store.usage.of(conversation_id)
    assert (report.running.calls, report.accepted.usage.input_tokens) == (0, 11)


@pytest.mark.rule("U2", "X1")
def test_a_shared_prefix_counts_once_for_whoever_owns_it(store):
    origin = store.create_conversation()
    node = spent(store, origin, "Q1", 100, 1)
    fork = store.fork(node)
    spent(store, fork, "Q of the fork", 7, 1)
    of_fork, of_origin = store.usage.of(fork), store.usage.of(origin)
    assert (of_fork.total.usage.input_tokens, of_fork.inherited.usage.input_tokens) == (7, 100)
    assert (of_origin.total.usage.input_tokens, of_origin.inherited.calls) == (100, 0)
    assert store.usage.by().total.usage.input_tokens == 107
    store.delete_conversation(origin)
    of_fork = store.usage.of(fork)
    assert (of_fork.total.usage.input_tokens, of_fork.inherited.calls) == (107, 0)


@pytest.mark.rule("U2")
def test_a_persons_correction_is_no_call_of_a_model(store):
    conversation_id = store.create_conversation()
    node = spent(store, conversation_id, "Q1", 100, 1)
    store.correct(conversation_id, "A by hand", node_id=node)
    report = store.usage.of(conversation_id)
    assert (report.accepted.calls, report.discarded.calls, report.total.unreported) == (0, 1, 0)


@pytest.mark.rule("U3")
def test_what_has_no_price_is_listed_and_not_counted_as_free(store):
    conversation_id = store.create_conversation()
    spent(store, conversation_id, "Q1", 1_000_000, 0)
    spent(store, conversation_id, "Q2", 5, 6, model="house-model", provider="house")
    ask(store, conversation_id, "Q3", "A3", model="m")
    total = store.usage.of(conversation_id, prices=PRICES).total
    assert total.cost == 1
    assert [(one.provider, one.model, one.calls, one.usage.input_tokens) for one in total.unpriced] == [
        ("house", "house-model", 1, 5)
    ]
    assert (total.unreported, total.known) == (1, False)


@pytest.mark.rule("U3")
def test_prices_come_from_the_library_or_from_a_file(store, tmp_path):
    conversation_id = store.create_conversation()
    spent(store, conversation_id, "Q1", 1_000_000, 0, model="gpt-5", provider="openai")
    assert store.usage.of(conversation_id).total.cost == Decimal("1.25")
    own = tmp_path / "prices.json"
    own.write_text('{"gpt-5": {"input": 0.1, "output": 1}}')
    assert store.usage.of(conversation_id, prices=own).total.cost == Decimal("0.1")
    own.write_text("{")
    with pytest.raises(errors.InvalidInput, match="can't be read"):
        store.usage.of(conversation_id, prices=str(own))


@pytest.mark.rule("U4")
def test_a_workspace_is_told_by_model_day_and_tag_from_one_query(store, queries_of):
    work = store.create_conversation(metadata={"tag": "work"})
    both = store.create_conversation(metadata={"tags": ["work", "fun"]})
    spent(store, work, "Q", 1, 0)
    spent(store, both, "Q", 2, 0)
    spent(store, both, "Q", 4, 0, model="n", provider="p")
    today = datetime.now(UTC).date()
    with queries_of(store) as names:
        table = store.usage.by("model", "day", "tag", prices=PRICES)
    assert names == ["read/usage_of_workspace"]
    told = {(line.provider, line.model, line.day, line.tag): line.spend.usage.input_tokens for line in table.lines}
    assert told == {
        (None, "m", today, "work"): 3,
        (None, "m", today, "fun"): 2,
        ("p", "n", today, "work"): 4,
        ("p", "n", today, "fun"): 4,
    }
    assert (table.total.usage.input_tokens, table.total.calls) == (7, 3)
    assert {line.model: line.spend.usage.input_tokens for line in store.usage.by("model").lines} == {"m": 3, "n": 4}
    assert [line.day for line in store.usage.by("day").lines] == [today]


@pytest.mark.rule("U4", "S8")
def test_a_workspaces_usage_is_bounded_by_time_and_holds_nothing_of_others(store, other_store):
    for one in (store, other_store):
        spent(one, one.create_conversation(), "Q", 1, 0)
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    assert store.usage.by().total.calls == 1
    assert store.usage.by(since=now - hour, until=now + hour).total.calls == 1
    assert store.usage.by(since=now + hour).total.calls == 0
    assert store.usage.by(until=now - hour).total.calls == 0
    with pytest.raises(errors.InvalidInput, match="not by 'colour'"):
        store.usage.by("colour")  # type: ignore[arg-type]


@pytest.mark.rule("U2", "F2")
def test_an_overflow_and_a_lost_race_are_discarded_calls(store):
    conversation_id, (first,) = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        turn.call("too long", model="m").fail("context_overflow", usage={"input_tokens": 9})
    answered(store.edit(conversation_id, first, "Q1b"), "A1b")
    assert store.usage.of(conversation_id).discarded.usage.input_tokens == 9


@pytest.mark.rule("U2")
def test_usage_of_no_conversation_is_refused(store):
    with pytest.raises(errors.ConversationNotFound):
        store.usage.of("nowhere")
