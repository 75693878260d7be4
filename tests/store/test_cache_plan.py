"""How much of a request was sent before, and whether a provider has likely cached it (rule P3)."""

from __future__ import annotations

from typing import Any

import pytest
from conversing import ask

from graphstore import GraphStore
from graphstore.cacheplan import MINIMUMS, minimum_of
from graphstore.errors import InvalidInput

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


def marked(request: dict[str, Any]) -> list[str]:
    """Where the markers of a rendered request are: the text of each block that has one."""
    blocks = [*request.get("tools", ()), *(request.get("system") or ())]
    for message in request["messages"]:
        blocks += message["content"] if isinstance(message["content"], list) else []
    return [block.get("text") or block.get("name") or block["type"] for block in blocks if "cache_control" in block]


def test_a_rendered_request_has_the_markers_that_its_plan_wants(store: GraphStore, talk: Any) -> None:
    plan = store.cache_plan(talk[0], model="claude-opus-5", new_items="three?")
    context = store.context(talk[0], new_items="three?")
    plain, planned = (context.render("anthropic", cache=cache) for cache in (None, plan))
    assert marked(planned) == ["Be short.", "two?", "three?"]
    assert marked(plain) == []
    assert "cache_control" not in str(context.items), "what is held stays as it was"
    assert "cache_control" not in str(context.render("openai-chat", cache=plan))


def test_markers_that_items_came_with_give_way_to_the_plans(store: GraphStore) -> None:
    marker = {"cache_control": {"type": "ephemeral"}}
    conversation_id = store.create_conversation()
    written = {"type": "text", "text": "by hand", **marker}
    came = {"type": "text", "text": "from there", "extra": {"anthropic": marker}}
    with store.turn(conversation_id) as turn:
        call = turn.call([{"type": "message", "role": "user", "content": [written, came]}], **CLAUDE)
        call.succeed(
            [{"type": "reasoning", "text": "hm"}, {"type": "tool_call", "call_id": "1", "name": "f", "arguments": "{}"}]
        )
        turn.call([{"type": "tool_result", "call_id": "1", "output": "x"}], **CLAUDE).succeed("done")
    context = store.context(conversation_id)
    assert marked(context.render("anthropic")) == ["by hand", "from there"]
    plan = store.cache_plan(conversation_id, model="claude-opus-5")
    assert marked(context.render("anthropic", cache=plan)) == ["tool_result", "done"]


def test_a_plan_of_another_request_is_refused(store: GraphStore, talk: Any) -> None:
    plan = store.cache_plan(talk[0], model="claude-opus-5", new_items="three?")
    with pytest.raises(InvalidInput, match="5 items"):
        store.context(talk[0]).render("anthropic", cache=plan)
