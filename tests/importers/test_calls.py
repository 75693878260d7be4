"""From a tree of messages to calls: every branch, every message, nothing twice on a path."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from import_trees import by_key, chatgpt, check_shape, imported, node, path_keys, source_paths

from graphstore.importers import Report, no_reply_key
from graphstore.importers import chatgpt as chatgpt_reader


def _read(nodes, current=None):
    return chatgpt_reader.conversation(chatgpt(nodes, current), Report(None))


@st.composite
def trees(draw):
    size = draw(st.integers(1, 40))
    parents: dict[str, str | None] = {"m0": None}
    nodes = []
    for number in range(size):
        key = f"m{number}"
        if number:
            # Near parents make long runs, far ones make forks anywhere.
            above = draw(st.integers(max(0, number - 3), number - 1) | st.integers(0, number - 1))
            parents[key] = f"m{above}"
        role = draw(st.sampled_from(["user", "assistant", "assistant", "tool", "system"]))
        nodes.append(node(key, parents[key], role, at=float(number)))
    current = draw(st.none() | st.sampled_from(sorted(parents)))
    return parents, draw(st.permutations(nodes)), current


@pytest.mark.rule("I2", "I3", "I6")
@given(trees())
@settings(max_examples=150, deadline=None)
def test_every_path_of_messages_is_exactly_a_path_of_calls(drawn):
    parents, nodes, current = drawn
    conversation = _read(nodes, current)
    check_shape(conversation)
    ends = {(call.returned_keys or call.sent_keys)[-1]: call.key for call in conversation.calls}
    for leaf, path in source_paths(parents).items():
        assert path_keys(conversation, ends[leaf]) == path
    if current is not None:
        path = []
        at: str | None = current
        while at is not None:
            path.append(at)
            at = parents[at]
        assert path_keys(conversation, conversation.cursor_key) == path[::-1]
        assert not conversation.cursor_guessed


@pytest.mark.rule("I5")
@given(trees(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_longer_export_changes_no_call_that_was_read_before(drawn, data):
    parents, nodes, _ = drawn
    kept = {f"m{number}" for number in range(data.draw(st.integers(1, len(parents))))}
    earlier = by_key(_read([entry for entry in nodes if entry["id"] in kept]))
    later = by_key(_read(nodes))
    for key, call in earlier.items():
        if call.returned and key in later:
            assert (later[key].sent, later[key].returned) == (call.sent, call.returned)
            assert later[key].parent_key == call.parent_key


@pytest.mark.rule("I3")
def test_two_replies_to_one_question_are_siblings_with_equal_sent_items():
    conversation = _read(
        [node("q", None, "user"), node("a", "q", "assistant", at=1.0), node("b", "q", "assistant", at=2.0)], "a"
    )
    first, second = conversation.calls
    assert (first.key, second.key) == ("a", "b")
    assert first.sent == second.sent
    assert first.parent_key is second.parent_key is None
    assert first.turn_key != second.turn_key
    assert conversation.cursor_key == "a"


@pytest.mark.rule("I3")
def test_two_versions_of_a_question_are_siblings_with_different_sent_items():
    conversation = _read(
        [
            node("q", None, "user"),
            node("a", "q", "assistant"),
            node("q1", "a", "user", "first"),
            node("q2", "a", "user", "second"),
            node("a1", "q1", "assistant"),
            node("a2", "q2", "assistant"),
        ],
        "a2",
    )
    calls = by_key(conversation)
    assert calls["a1"].parent_key == calls["a2"].parent_key == "a"
    assert calls["a1"].sent != calls["a2"].sent


@pytest.mark.rule("I3")
def test_a_question_without_a_reply_is_a_failed_call_and_its_reply_becomes_a_sibling():
    before = _read([node("q", None, "user")], "q")
    [call] = before.calls
    assert (call.key, call.status, call.failure_kind) == (no_reply_key("q"), "failed", "no_reply")
    assert before.cursor_key == no_reply_key("q")
    after = _read([node("q", None, "user"), node("a", "q", "assistant")], "a")
    assert after.cursor_key == "a"
    assert by_key(after)["a"].sent == call.sent


@pytest.mark.rule("I3", "S4")
def test_rounds_of_a_turn_count_up_and_a_fork_inside_begins_a_turn_of_its_own():
    conversation = _read(
        [
            node("q", None, "user"),
            node("c", "q", "assistant", "{}", recipient="search"),
            node("r", "c", "tool", name="search"),
            node("a", "r", "assistant", at=1.0),
            node("b", "r", "assistant", at=2.0),
        ]
    )
    turns = {call.key: (call.turn_key, call.round) for call in conversation.calls}
    assert turns == {"c": ("c", 0), "a": ("c", 1), "b": ("b", 0)}


@pytest.mark.rule("I2")
def test_a_fork_in_a_run_of_the_models_messages_gives_each_branch_the_whole_run():
    conversation = _read(
        [
            node("q", None, "user"),
            node("r", "q", "assistant"),
            node("a", "r", "assistant"),
            node("b", "r", "assistant"),
        ]
    )
    assert {call.key: call.returned_keys for call in conversation.calls} == {"a": ["r", "a"], "b": ["r", "b"]}


@pytest.mark.rule("I2")
def test_a_pointer_at_an_inner_message_is_the_cursor_unmoved():
    nodes = [
        node("q", None, "user"),
        node("a", "q", "assistant"),
        node("q2", "a", "user"),
        node("a2", "q2", "assistant"),
    ]
    assert _read(nodes, "a").cursor_key == "a"
    assert path_keys(_read(nodes, "q2"), _read(nodes, "q2").cursor_key) == ["q", "a", "q2"]


def test_a_first_message_by_the_model_is_a_call_with_nothing_sent():
    conversation = _read([node("a", None, "assistant"), node("q", "a", "user"), node("b", "q", "assistant")])
    assert [(call.key, call.sent_keys) for call in conversation.calls] == [("a", []), ("b", ["q"])]


def test_consecutive_questions_are_sent_together(tmp_path: Path):
    conversation = imported(
        tmp_path, [chatgpt([node("q", None, "user"), node("p", "q", "user"), node("a", "p", "assistant")])]
    )
    assert [call.sent_keys for call in conversation.calls] == [["q", "p"]]
