"""Contexts over HTTP: every rendering, and what they carry beside it."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from told import Story

from graphstore import GraphStore
from graphstore.rendering import FORMATS

QUESTION, ANSWER = "What was our revenue?", "About 4 million."


@pytest.mark.rule("A6", "H1")
@pytest.mark.parametrize("shape", FORMATS)
def test_the_request_is_what_the_store_renders(store: GraphStore, client: TestClient, story: Story, shape: str):
    answer = client.get(f"/v1/conversations/{story.id}/context", params={"as": shape}).json()
    assert answer["as"] == shape
    assert answer["request"] == store.context(story.id).render(shape)


@pytest.mark.rule("A6")
def test_an_anthropic_request_has_its_system_prompt_apart(client: TestClient, story: Story):
    request = client.get(f"/v1/conversations/{story.id}/context?as=anthropic").json()["request"]
    assert request["system"] == "Be short."
    assert request["messages"] == [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]


def test_items_are_the_shape_when_none_is_named(client: TestClient, story: Story):
    answer = client.get(f"/v1/conversations/{story.id}/context").json()
    assert [item["content"] for item in answer["request"]["items"]] == [QUESTION, ANSWER]
    assert answer["request"]["system"] == "Be short."


@pytest.mark.rule("A2")
def test_the_answer_left_behind_is_not_in_it(client: TestClient, story: Story):
    assert "4.2 million" not in client.get(f"/v1/conversations/{story.id}/context").text


def test_a_node_of_another_branch_has_a_context_of_its_own(client: TestClient, story: Story):
    answer = client.get(f"/v1/nodes/{story.first}/context").json()
    assert "4.2 million" in str(answer["request"])
    assert (answer["node_id"], answer["nodes"], answer["conversation_id"]) == (story.first, [story.first], None)


def test_it_says_what_it_is_made_of(store: GraphStore, client: TestClient, story: Story):
    answer = client.get(f"/v1/conversations/{story.id}/context").json()
    assert answer["hash"] == store.context(story.id).hash
    assert (answer["conversation_id"], answer["nodes"], answer["warnings"]) == (story.id, [story.again], [])


def test_an_empty_conversation_has_an_empty_context(store: GraphStore, client: TestClient):
    answer = client.get(f"/v1/conversations/{store.create_conversation()}/context").json()
    assert (answer["node_id"], answer["nodes"], answer["request"]) == (None, [], {"items": []})


@pytest.mark.rule("A4")
def test_a_call_without_a_result_is_left_out_and_warned_of(store: GraphStore, client: TestClient):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("Look it up.").succeed(
            [{"type": "tool_call", "call_id": "lost-call", "name": "search", "arguments": "{}"}]
        )
    with store.turn(conversation_id) as turn:
        turn.call("And?").succeed("Nothing.")
    answer = client.get(f"/v1/conversations/{conversation_id}/context").json()
    assert "lost-call" not in str(answer["request"])
    assert any("lost-call" in line for line in answer["warnings"] + answer["expected"])


class TestETag:
    @pytest.mark.rule("H2")
    def test_an_unchanged_context_is_answered_by_304_without_a_body(self, client: TestClient, story: Story):
        address = f"/v1/conversations/{story.id}/context?as=openai-chat"
        first = client.get(address)
        again = client.get(address, headers={"if-none-match": f'"other", W/{first.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]

    @pytest.mark.rule("H2")
    def test_it_begins_with_the_context_hash(self, client: TestClient, story: Story):
        answer = client.get(f"/v1/conversations/{story.id}/context")
        assert answer.headers["etag"].startswith(f'"{answer.json()["hash"]}.')

    @pytest.mark.rule("H2")
    def test_a_turn_changes_it(self, store: GraphStore, client: TestClient, story: Story):
        address = f"/v1/conversations/{story.id}/context"
        held = client.get(address).headers["etag"]
        with store.turn(story.id) as turn:
            turn.call("And before?").succeed("3.9 million.")
        assert client.get(address, headers={"if-none-match": held}).status_code == 200

    def test_another_branch_that_says_the_same_is_another_answer(self, store: GraphStore, client: TestClient):
        conversation_id = store.create_conversation()
        with store.turn(conversation_id) as turn:
            turn.call("Yes?").succeed("Yes.")
        before = client.get(f"/v1/conversations/{conversation_id}/context")
        with store.regenerate(conversation_id) as turn:
            turn.current.succeed("Yes.")
        after = client.get(
            f"/v1/conversations/{conversation_id}/context", headers={"if-none-match": before.headers["etag"]}
        )
        assert after.status_code == 200
        assert after.json()["hash"] == before.json()["hash"]
        assert after.json()["nodes"] != before.json()["nodes"]


@pytest.mark.rule("K2")
def test_a_compaction_is_unfolded_for_a_provider_that_cannot_read_it(
    store: GraphStore, client: TestClient, story: Story
):
    summary = [{"type": "message", "role": "user", "content": "A summary."}]
    store.compact(story.id, summary, readers=["openai"])
    address = f"/v1/conversations/{story.id}/context"
    assert "A summary." in client.get(address, params={"for_provider": "openai"}).text
    assert QUESTION in client.get(address, params={"for_provider": "anthropic"}).text


@pytest.mark.rule("H6")
def test_a_long_context_comes_whole(store: GraphStore, client: TestClient):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("é" * 1_500_000).succeed("Long.")
    answer = client.get(f"/v1/conversations/{conversation_id}/context")
    assert len(answer.content) == int(answer.headers["content-length"]) > 3_000_000
    assert answer.json()["request"]["items"][0]["content"] == "é" * 1_500_000
