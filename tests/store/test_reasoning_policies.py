"""Reasoning bound to its prefix, on real paths: what changes it, and what each policy does (rule P1)."""

from __future__ import annotations

from typing import Any

import pytest
from conversing import answered, ask, assistant, tool_call, tool_result

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


DROPPING = {**CLAUDE, "reasoning": "drop"}


def signatures(context: Any) -> list[str]:
    return [item["signature"] for item in context.items if item.get("type") == "reasoning"]


class TestOfATurn:
    """The policy chosen for a turn decides what its calls send, and is recorded with them."""

    @pytest.mark.rule("S1", "R1")
    def test_what_a_call_sent_under_its_policy_is_its_context_and_is_put_together_again(
        self, store: GraphStore, talk: Any, new_process_store: Any
    ) -> None:
        with store.turn(talk[0]) as turn:
            call = turn.call("three?", **DROPPING)
            made = call.context
            call.succeed([thought("s4"), assistant("three")])
        assert signatures(made) == ["s2", "s3"]
        node = store.node(call.id)
        assert node.options["reasoning"] == {"policy": "drop", **CLAUDE}
        assert node.context_hash == made.hash
        store.switch(talk[0], talk[1][0])
        for reader in (store, new_process_store()):
            saw = reader.saw_by_model(call.id)
            assert (saw.verdict, saw.context.body, saw.context.policy) == ("same", made.body, "drop")
            assert saw.context.render("anthropic") == made.render("anthropic")
        assert store.verify().found == 0

    def test_keep_is_recorded_too_and_its_request_has_the_permission_again(self, store: GraphStore, talk: Any) -> None:
        with store.turn(talk[0], reasoning="keep") as turn:
            call = turn.call("three?", **CLAUDE)
            call.succeed("three")
        saw = store.saw_by_model(call.id)
        assert signatures(saw.context) == ["s1", "s2", "s3"]
        assert saw.context.render("anthropic")["thinking"] == call.context.render("anthropic")["thinking"]
        assert saw.verdict == "same"

    def test_error_refuses_before_anything_is_written(self, store: GraphStore, talk: Any) -> None:
        before = store.tree(talk[0])
        with store.turn(talk[0], reasoning="error") as turn, pytest.raises(ReasoningMismatch) as refused:
            turn.call("three?", **CLAUDE)
        assert refused.value.nodes == (talk[1][0],)
        assert store.tree(talk[0]) == before
        assert store.conversation(talk[0]).turn is None

    def test_the_policy_holds_for_the_turn_until_one_of_its_calls_names_another(
        self, store: GraphStore, talk: Any
    ) -> None:
        with store.turn(talk[0]) as turn:
            turn.call("three?", **DROPPING).succeed([thought("s4"), tool_call("d")])
            second = turn.call([tool_result("d")], **CLAUDE)
            second.succeed([thought("s5"), tool_call("e")])
            third = turn.call([tool_result("e")], reasoning=None, **CLAUDE)
            third.succeed([thought("s6"), assistant("three")])
        assert signatures(second.context) == ["s2", "s3", "s4"]
        assert signatures(third.context) == ["s1", "s2", "s3", "s4", "s5"]
        assert "reasoning" not in store.node(third.id).options

    def test_what_was_thought_after_a_drop_is_bound_to_the_path_it_was_dropped_from(
        self, store: GraphStore, talk: Any
    ) -> None:
        ask(store, talk[0], "three?", [thought("s4"), assistant("three")], **DROPPING)
        assert told(store, talk[0]) == [("tools",), (), (), ()]
        assert signatures(store.context(talk[0], reasoning="drop")) == ["s2", "s3", "s4"]
        assert told(store, talk[0], for_model="another")[-1] == ("model",)

    def test_another_path_unbinds_it(self, store: GraphStore, talk: Any) -> None:
        store.compact(talk[0], [assistant("In short: two.")], readers=["anthropic"])
        ask(store, talk[0], "three?", [thought("s4"), assistant("three")], **DROPPING)
        assert told(store, talk[0], for_provider="anthropic") == [()]
        assert told(store, talk[0], for_provider="openai")[-1] == ("provider", "prefix")

    def test_edits_side_jobs_recorded_calls_and_corrections_have_one_too(self, store: GraphStore, talk: Any) -> None:
        last = ask(store, talk[0], "three?", "three", **CLAUDE)
        edited = answered(store.edit(talk[0], last, "3?", **DROPPING), "three")
        again = answered(store.regenerate(talk[0], edited, **DROPPING), "3")
        corrected = store.correct(talk[0], "III", node_id=again)
        with store.conversion(talk[0], **DROPPING) as job:
            job.call("convert").succeed("done")
        recorded = store.recorder(talk[0]).record("four?", "four", **DROPPING)
        for node_id in (edited, again, corrected, job.current.id, recorded):
            assert store.node(node_id).options["reasoning"]["policy"] == "drop"
            assert signatures(store.saw_by_model(node_id).context) == ["s2", "s3"]
        assert store.verify().found == 0

    def test_a_policy_that_does_not_exist_is_refused(self, store: GraphStore, talk: Any) -> None:
        with pytest.raises(InvalidInput, match="'forget' is not a policy"):
            store.turn(talk[0], reasoning="forget")
        with store.turn(talk[0]) as turn, pytest.raises(InvalidInput, match="'forget' is not a policy"):
            turn.call("three?", reasoning="forget")


@pytest.mark.rule("R1", "K2")
def test_a_recorded_call_and_a_correction_keep_by_which_names_they_read_a_compaction(
    store: GraphStore, talk: Any
) -> None:
    store.compact(talk[0], [assistant("In short: two.")], readers=["anthropic"])
    recorder = store.recorder(talk[0])
    recorded = recorder.record("three?", "three", **CLAUDE)
    corrected = store.correct(talk[0], "III", node_id=recorded)
    assert [store.saw_by_model(node).verdict for node in (recorded, corrected)] == ["same", "same"]
    assert store.verify().found == 0
