"""Reasoning bound to its prefix, on real paths: what changes it, and what each policy does (rule P1)."""

from __future__ import annotations

from typing import Any

import pytest
from conversing import ask, assistant, tool_call, tool_result

from graphstore import GraphStore
from graphstore.errors import InvalidInput, ReasoningMismatch

pytestmark = pytest.mark.rule("P1")

CLAUDE = {"provider": "anthropic", "model": "claude-opus-5-5"}
TOOLS = [{"name": "search"}]


def thought(signature: str) -> dict[str, Any]:
    return {"type": "reasoning", "text": "hm", "signature": signature}


@pytest.fixture
def talk(store: GraphStore) -> tuple[str, list[str]]:
    """Three turns that think, the second with a tool."""
    conversation_id = store.create_conversation()
    first = ask(store, conversation_id, "one?", [thought("s1"), assistant("one")], system="Be short.", **CLAUDE)
    with store.turn(conversation_id) as turn:
        call = turn.call("two?", tools=TOOLS, **CLAUDE)
        call.succeed([thought("s2"), tool_call("c")])
        call_2 = turn.call([tool_result("c")], **CLAUDE)
        call_2.succeed([thought("s3"), assistant("two")])
    return conversation_id, [first, call.id, call_2.id]


def changes(context: Any) -> list[tuple[str, ...]]:
    return [block.changes for block in context.blocks]


def told(store: GraphStore, conversation_id: str, **options: Any) -> list[tuple[str, ...]]:
    return changes(store.context(conversation_id, reasoning="keep", **options))


def test_only_what_was_made_with_other_tools_has_changed(store: GraphStore, talk: Any) -> None:
    context = store.context(talk[0], reasoning="keep", for_provider="anthropic", for_model="claude-opus-5-5")
    assert changes(context) == [("tools",), (), ()]
    assert [block.node_id for block in context.blocks] == talk[1]
    assert [context.items[block.index]["signature"] for block in context.blocks] == ["s1", "s2", "s3"]


def test_a_branch_leaves_the_reasoning_on_its_prefix_bound(store: GraphStore, talk: Any) -> None:
    with store.edit(talk[0], talk[1][1], "other?", tools=None, **CLAUDE) as turn:
        turn.current.succeed([thought("s4"), assistant("other")])
    assert told(store, talk[0]) == [(), ()]


def test_another_model_changes_every_block(store: GraphStore, talk: Any) -> None:
    assert told(store, talk[0], for_model="claude-opus-6") == [("model", "tools"), ("model",), ("model",)]


def test_another_system_prompt_changes_every_block_before_it(store: GraphStore, talk: Any) -> None:
    ask(store, talk[0], "three?", [thought("s5"), assistant("three")], system="Be long.", **CLAUDE)
    assert told(store, talk[0]) == [("system", "tools"), ("system",), ("system",), ()]


def test_an_unfolded_compaction_changes_what_was_made_on_the_summary(store: GraphStore, talk: Any) -> None:
    store.compact(talk[0], [assistant("In short: two.")], readers=["anthropic"])
    ask(store, talk[0], "three?", [thought("s6"), assistant("three")], **CLAUDE)
    assert told(store, talk[0], for_provider="anthropic") == [()]
    assert told(store, talk[0], for_provider="openai")[-1] == ("provider", "prefix")


def test_a_filtered_call_changes_what_comes_after_it(store: GraphStore, caplog: pytest.LogCaptureFixture) -> None:
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        call = turn.call("one?", **CLAUDE)
        call.succeed([thought("s1"), assistant("let me see"), tool_call("lost")], finish_reason="cancelled")
    ask(store, conversation_id, "two?", [thought("s2"), assistant("two")], **CLAUDE)
    assert told(store, conversation_id) == [(), ()]  # the second call was sent without it as well
    with store.turn(conversation_id, exclusive=False) as turn:
        late = turn.call([tool_result("lost")], **CLAUDE)
        late.succeed("found")
    assert told(store, conversation_id) == [(), ("prefix",)]


def test_drop_leaves_out_what_no_longer_fits(store: GraphStore, talk: Any) -> None:
    request = store.context(talk[0], reasoning="drop").render("anthropic")
    assert [signature in str(request) for signature in ("s1", "s2", "s3")] == [False, True, True]


def test_keep_sends_all_with_the_permission_to_drop(store: GraphStore, talk: Any) -> None:
    context = store.context(talk[0], reasoning="keep", for_provider="anthropic", for_model="claude-opus-5-5")
    request = context.render("anthropic")
    assert request.pop("thinking")["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert request == store.context(talk[0]).render("anthropic")


def test_error_names_the_calls_that_would_have_to_run_again(store: GraphStore, talk: Any) -> None:
    with pytest.raises(ReasoningMismatch, match="bound to another tools; run those calls again") as refused:
        store.context(talk[0], reasoning="error")
    assert refused.value.nodes == (talk[1][0],)
    context = store.context(talk[0], reasoning="keep")
    with pytest.raises(ReasoningMismatch):
        context.render("anthropic", reasoning="error")


def test_without_a_policy_nothing_is_read_or_changed(store: GraphStore, talk: Any, queries_of: Any) -> None:
    with queries_of(store) as names:
        context = store.context(talk[0])
        rendered = context.render("anthropic")
    assert "read/origins" not in names
    assert all(signature in str(rendered) for signature in ("s1", "s2", "s3"))
    with pytest.raises(InvalidInput, match="reasoning='keep'"):
        _ = context.blocks


def test_a_policy_costs_one_query_more(store: GraphStore, talk: Any, queries_of: Any) -> None:
    store.context(talk[0])
    with queries_of(store) as names:
        store.context(talk[0], reasoning="drop").render("anthropic")
    assert names == ["read/extend", "read/origins"]
