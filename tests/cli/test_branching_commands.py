"""``graphstore branches``, ``diff``, ``search``, ``label`` and ``feedback``."""

from __future__ import annotations

import json

import pytest

from graphstore import GraphStore

pytestmark = pytest.mark.rule("L3")


@pytest.fixture
def two_answers(store: GraphStore) -> tuple[str, str, str]:
    """A conversation, its first answer and the one that took its place."""
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("How much?").succeed("It was four\x1b[1m million")
    first = turn.current.id
    with store.regenerate(conversation_id) as turn:
        turn.current.succeed("It was five million")
    return conversation_id, first, turn.current.id


@pytest.mark.rule("W1")
def test_diff_shows_the_words_that_differ(cli, store: GraphStore, two_answers) -> None:
    conversation_id, first, second = two_answers
    shown = cli("diff", first[-10:], second[-10:], "--in", conversation_id).out
    assert "No node in common" in shown
    assert "[-four\\x1b[1m-]" in shown
    assert "{+five+}" in shown
    assert "\x1b" not in shown
    fork = store.fork(first)
    told = json.loads(cli("diff", conversation_id, fork, "--json").out)
    assert [step["kind"] for step in told["differences"]] == ["equal", "replaced"]
    assert cli("diff", first, second).code == 0
    assert cli("diff", "nowhere", second).code == 3


@pytest.mark.rule("W2", "W3")
def test_labels_feedback_and_branches_are_listed(cli, store: GraphStore, two_answers) -> None:
    conversation_id, first, second = two_answers
    assert cli("label", "add", conversation_id, first[-10:], "idea", "--branch").code == 0
    store.summaries.attach(first, "Four was wrong")
    shown = cli("branches", conversation_id).out
    assert "idea" in shown
    assert "Four was wrong" in shown
    assert "accepted" in shown
    told = json.loads(cli("branches", conversation_id, "--limit", "1", "--json").out)
    assert [one["node_id"] for one in told["branches"]] == [second]
    assert json.loads(cli("branches", conversation_id, "--after", told["after"], "--json").out)["after"] is None
    assert "idea" in cli("label", "ls", conversation_id).out
    assert json.loads(cli("label", "ls", "--name", "idea", "--json").out)["labels"][0]["node_id"] == first
    assert cli("label", "ls").code == 2
    assert json.loads(cli("label", "rm", conversation_id, first, "idea", "--branch", "--json").out)["removed"]
    assert cli("feedback", "give", conversation_id, second, "--rating", "up", "--by", "ann\x1b").code == 0
    assert cli("feedback", "give", conversation_id, second).code == 2
    shown = cli("feedback", "ls", conversation_id).out
    assert "ann\\x1b" in shown
    assert json.loads(cli("feedback", "ls", conversation_id, "--json").out)[0]["rating"] == "up"


@pytest.mark.rule("W4")
def test_search_shows_where_a_hit_lies(cli, two_answers) -> None:
    _, first, _ = two_answers
    shown = cli("search", "four").out
    assert "another branch" in shown
    assert "\x1b" not in shown
    assert [hit["node_id"] for hit in json.loads(cli("search", "four", "--json").out)["hits"]] == [first]
    assert cli("search", "!!").code == 2
    assert cli("search", "[x", "--raw").code == 2
