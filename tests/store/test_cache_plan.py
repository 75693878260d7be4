"""How much of a request was sent before, and whether a provider has likely cached it (rule P3)."""

from __future__ import annotations

from typing import Any

import pytest
from conversing import ask

from graphstore import GraphStore
from graphstore.cacheplan import MINIMUMS, minimum_of

pytestmark = pytest.mark.rule("P3")

CLAUDE = {"provider": "anthropic", "model": "claude-opus-5"}


@pytest.fixture
def talk(store: GraphStore) -> tuple[str, list[str]]:
    conversation_id = store.create_conversation()
    first = ask(store, conversation_id, "one?", "one " * 1000, system="Be short.", **CLAUDE)
    return conversation_id, [first, ask(store, conversation_id, "two?", "two", **CLAUDE)]


def test_a_new_question_shares_what_the_last_call_sent(store: GraphStore, talk: Any) -> None:
    plan = store.cache_plan(talk[0], model="claude-opus-5", new_items="three?")
    assert (plan.shared_with, plan.shared_items, plan.total_items) == (talk[1][1], 3, 5)
    assert plan.shared_tokens == -(-plan.shared_bytes // 4)
    assert plan.estimated
    assert plan.shared_bytes < plan.total_bytes


def test_asking_again_shares_the_whole_request(store: GraphStore, talk: Any) -> None:
    plan = store.cache_plan(node_id=talk[1][0], model="claude-opus-5", new_items="two?")
    assert (plan.shared_with, plan.shared_items) == (talk[1][1], plan.total_items)
    assert plan.shared_bytes == plan.total_bytes


def test_another_question_shares_all_that_comes_before_it(store: GraphStore, talk: Any) -> None:
    plan = store.cache_plan(node_id=talk[1][0], model="claude-opus-5", new_items="other?")
    assert (plan.shared_with, plan.shared_items, plan.total_items) == (talk[1][1], 2, 3)


def test_another_model_shares_nothing(store: GraphStore, talk: Any) -> None:
    plan = store.cache_plan(talk[0], model="claude-haiku-4-5", new_items="three?")
    assert (plan.shared_with, plan.shared_items, plan.shared_bytes, plan.shared_tokens) == (None, 0, 0, 0)
    assert plan.reaches_minimum is False
    assert store.cache_plan(talk[0], new_items="three?").shared_items == 3


def test_another_system_prompt_shares_only_what_was_sent_with_it(store: GraphStore, talk: Any) -> None:
    third = ask(store, talk[0], "three?", "three", system="Be long.", **CLAUDE)
    assert store.cache_plan(talk[0], model="claude-opus-5").shared_with == third
    fourth = ask(store, talk[0], "four?", "four", system="Be short.", provider="anthropic", model="claude-haiku-4-5")
    plan = store.cache_plan(node_id=fourth, model="claude-opus-5")
    assert (plan.shared_with, plan.shared_items) == (talk[1][1], 3)


def test_a_summary_shares_nothing_with_what_it_stands_for(store: GraphStore, talk: Any) -> None:
    store.compact(talk[0], "In short.")
    assert store.cache_plan(talk[0], model="claude-opus-5", new_items="three?").shared_with is None


def test_what_is_shared_is_held_against_the_models_minimum(store: GraphStore, talk: Any) -> None:
    plan = store.cache_plan(talk[0], model="claude-opus-5")
    assert (plan.minimum, plan.reaches_minimum) == (512, True)
    few = store.cache_plan(talk[0], model="claude-opus-5", count_tokens=lambda text: len(text.split()) // 10)
    assert (few.estimated, few.reaches_minimum) == (False, False)
    unknown = store.cache_plan(talk[0], model="some-model")
    assert (unknown.minimum, unknown.minimum_source, unknown.reaches_minimum) == (None, None, None)


def test_markers_stand_after_the_prompt_the_shared_part_and_the_last_item(store: GraphStore, talk: Any) -> None:
    assert store.cache_plan(talk[0], model="claude-opus-5", new_items="three?").markers == ("system", 2, 4)
    assert store.cache_plan(talk[0], model="gpt-5", new_items="three?").markers == ()


def test_an_empty_conversation_shares_nothing(store: GraphStore) -> None:
    plan = store.cache_plan(store.create_conversation(), model="claude-opus-5", new_items="one?")
    assert (plan.shared_with, plan.shared_items, plan.total_items) == (None, 0, 1)


def test_minimums_lie_between_512_and_4096_and_name_their_source() -> None:
    assert {512, 4096} <= {minimum for minimum, _ in MINIMUMS.values()}
    assert all(512 <= minimum <= 4096 and source.startswith("https://") for minimum, source in MINIMUMS.values())
    assert minimum_of("claude-opus-4-5-20251101")[0] == 4096
    assert minimum_of("claude-opus-4-1")[0] == 1024
