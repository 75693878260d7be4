"""Endpoints that keep the history: which response a call can continue, and what is sent after it (rule P2)."""

from __future__ import annotations

from typing import Any

import pytest
from conversing import assistant, tool_call, tool_result, user

from graphstore import GraphStore
from graphstore.errors import InvalidInput

pytestmark = pytest.mark.rule("P2")


def turn(store: GraphStore, conversation_id: str, question: str, answer: Any, response_id: str, **options: Any) -> str:
    options = {"provider": "openai", "model": "gpt-5"} | options
    with store.turn(conversation_id) as held:
        call = held.call(question, **options)
        call.succeed(answer, response_id=response_id)
    return call.id


@pytest.fixture
def talk(store: GraphStore) -> tuple[str, list[str]]:
    conversation_id = store.create_conversation()
    nodes = [turn(store, conversation_id, f"question {n}", f"answer {n}", f"resp_{n}") for n in (1, 2)]
    return conversation_id, nodes


def test_only_what_the_provider_lacks_is_sent(store: GraphStore, talk: Any) -> None:
    chain = store.chain(talk[0], for_provider="openai", new_items="question 3")
    assert (chain.response_id, chain.node_id) == ("resp_2", talk[1][1])
    assert chain.items == [user("question 3")]
    assert chain.render() == {
        "input": [{"role": "user", "content": "question 3"}],
        "previous_response_id": "resp_2",
    }


def test_another_providers_call_in_between_is_sent_after_the_response_before_it(store: GraphStore, talk: Any) -> None:
    turn(store, talk[0], "question 3", "answer 3", "msg_3", provider="anthropic", model="claude")
    chain = store.chain(talk[0], for_provider="openai")
    assert chain.response_id == "resp_2"
    assert [item["content"] for item in chain.items] == ["question 3", "answer 3"]
    assert store.chain(talk[0], for_provider="anthropic").response_id == "msg_3"


def test_a_named_model_continues_only_its_own_responses(store: GraphStore, talk: Any) -> None:
    turn(store, talk[0], "question 3", "answer 3", "resp_3", model="gpt-5-mini")
    assert store.chain(talk[0], for_provider="openai").response_id == "resp_3"
    assert store.chain(talk[0], for_provider="openai", for_model="gpt-5").response_id == "resp_2"


def test_a_response_before_a_compaction_is_not_continued(store: GraphStore, talk: Any) -> None:
    store.compact(talk[0], [assistant("In short: two answers.")])
    chain = store.chain(talk[0], for_provider="openai")
    assert (chain.response_id, chain.node_id) == (None, None)
    assert [item["content"] for item in chain.items] == ["In short: two answers."]


def test_a_response_made_on_a_summary_is_not_continued_once_that_is_unfolded(store: GraphStore, talk: Any) -> None:
    store.compact(talk[0], [assistant("In short.")], readers=["openai/gpt-5"])
    turn(store, talk[0], "question 3", "answer 3", "resp_3")
    assert store.chain(talk[0], for_provider="openai", for_model="gpt-5").response_id == "resp_3"
    assert store.chain(talk[0], for_provider="openai").response_id == "resp_2"


def test_a_failed_call_is_not_continued_but_what_it_sent_is_sent(store: GraphStore, talk: Any) -> None:
    with store.turn(talk[0]) as held:
        held.call("question 3", provider="openai").fail("timeout", response_id="resp_3")
    chain = store.chain(talk[0], for_provider="openai")
    assert (chain.response_id, chain.items) == ("resp_2", [user("question 3")])


def test_a_response_with_a_call_that_never_got_its_result_is_not_continued(store: GraphStore, talk: Any) -> None:
    with store.turn(talk[0]) as held:
        call = held.call("question 3", provider="openai")
        call.succeed([assistant("let me see"), tool_call("lost")], response_id="resp_3", finish_reason="cancelled")
    chain = store.chain(talk[0], for_provider="openai")
    assert chain.response_id == "resp_2"
    assert [item["content"] for item in chain.items] == ["question 3", "let me see"]


def test_results_are_sent_after_the_response_that_called(store: GraphStore, talk: Any) -> None:
    with store.turn(talk[0]) as held:
        call = held.call("question 3", provider="openai", model="gpt-5")
        call.succeed([tool_call("c")], response_id="resp_3")
        chain = store.chain(node_id=call.id, for_provider="openai", new_items=[tool_result("c")])
        assert (chain.response_id, chain.items) == ("resp_3", [tool_result("c")])
        held.call([tool_result("c")], provider="openai").succeed("done", response_id="resp_4")


def test_another_system_prompt_does_not_matter_as_it_is_sent_each_time(store: GraphStore, talk: Any) -> None:
    turn(store, talk[0], "question 3", "answer 3", "resp_3", system="Be short.")
    chain = store.chain(talk[0], for_provider="openai")
    assert chain.response_id == "resp_3"
    assert chain.render()["instructions"] == "Be short."


def test_two_calls_that_continue_one_response_are_siblings(store: GraphStore, talk: Any) -> None:
    with store.regenerate(talk[0], provider="openai", model="gpt-5") as again:
        again.current.succeed("answer 2b", response_id="resp_2b")
    first, second = (store.node(node_id) for node_id in (talk[1][1], again.current.id))
    chains = [store.chain(node_id=node.parent_id, for_provider="openai") for node in (first, second)]
    assert [chain.response_id for chain in chains] == ["resp_1", "resp_1"]
    assert store.markers(talk[0])[-1].siblings == (first.id, second.id)
    assert store.chain(talk[0], for_provider="openai").response_id == "resp_2b"


def test_a_shape_without_a_previous_response_is_refused(store: GraphStore, talk: Any) -> None:
    with pytest.raises(InvalidInput, match="can't continue response 'resp_2'"):
        store.chain(talk[0], for_provider="openai").render("openai-chat")


def test_it_costs_two_queries(store: GraphStore, talk: Any, queries_of: Any) -> None:
    with queries_of(store) as names:
        store.chain(talk[0], for_provider="openai")
    assert len(names) == 2
    assert names[-1] == "read/origins"
