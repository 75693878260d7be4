"""Broken links: repaired, noted, nothing lost."""

from __future__ import annotations

import pytest
from import_trees import chatgpt, check_shape, node, path_keys

from graphstore.importers import Report
from graphstore.importers import chatgpt as chatgpt_reader

pytestmark = pytest.mark.rule("I4")


def _read(nodes, current=None, **fields):
    conversation = chatgpt_reader.conversation(chatgpt(nodes, current, **fields), Report(None))
    check_shape(conversation)
    return conversation


def _messages(conversation):
    return {key for call in conversation.calls for key in call.sent_keys + call.returned_keys}


def test_an_orphan_begins_a_branch_of_its_own():
    conversation = _read([node("q", None, "user"), node("a", "q", "assistant"), node("o", "gone", "user")], "a")
    assert conversation.report.counts["orphan"] == 1
    assert conversation.report.counts["several_roots"] == 1
    assert _messages(conversation) == {"q", "a", "o"}


def test_an_orphan_that_stands_in_a_list_of_children_goes_there():
    conversation = _read([node("q", None, "user", children=["a"]), node("a", "gone", "assistant", children=[])])
    assert path_keys(conversation, "a") == ["q", "a"]
    assert conversation.report.counts["orphan"] == 1


def test_a_cycle_is_cut_at_its_first_message():
    conversation = _read(
        [
            node("q", None, "user"),
            node("x", "z", "user"),
            node("y", "x", "assistant"),
            node("z", "y", "user"),
            node("s", "s", "user"),
        ]
    )
    assert conversation.report.counts["cycle"] == 2
    assert _messages(conversation) == {"q", "x", "y", "z", "s"}
    assert path_keys(conversation, "no_reply:z") == ["x", "y", "z"]


def test_children_lists_may_be_missing_everywhere():
    conversation = _read(
        [node("q", None, "user"), node("b", "q", "assistant", at=2.0), node("a", "q", "assistant", at=1.0)], "b"
    )
    assert [call.key for call in conversation.calls] == ["a", "b"]
    assert conversation.report.counts["wrong_children"] == 0


def test_children_lists_order_siblings_even_against_their_times():
    conversation = _read(
        [
            node("q", None, "user", children=["b", "a"]),
            node("a", "q", "assistant", at=1.0, children=[]),
            node("b", "q", "assistant", at=2.0, children=[]),
        ]
    )
    assert [call.key for call in conversation.calls] == ["b", "a"]


def test_a_wrong_list_of_children_loses_nothing_and_is_noted():
    conversation = _read(
        [
            node("q", None, "user", children=["nobody", "a", "a"]),
            node("a", "q", "assistant", children=[]),
            node("b", "q", "assistant", children=[]),
        ]
    )
    assert {call.key for call in conversation.calls} == {"a", "b"}
    assert conversation.report.counts["wrong_children"] == 1


def test_a_dangling_pointer_is_noted_and_the_newest_leaf_guessed():
    conversation = _read(
        [node("q", None, "user"), node("a", "q", "assistant", at=2.0), node("b", "q", "assistant", at=1.0)], "gone"
    )
    assert conversation.report.counts["dangling_pointer"] == 1
    assert conversation.report.counts["guessed_leaf"] == 1
    assert conversation.cursor_guessed
    assert conversation.cursor_key == "a"


@pytest.mark.rule("I2")
def test_a_missing_pointer_takes_the_newest_leaf_ties_going_to_the_later_one():
    conversation = _read([node("q", None, "user"), node("a", "q", "assistant"), node("b", "q", "assistant")])
    assert (conversation.cursor_key, conversation.cursor_guessed) == ("b", True)


def test_several_roots_are_all_read():
    conversation = _read([node("p", None, "user"), node("q", None, "user"), node("a", "q", "assistant")], "a")
    assert conversation.report.counts["several_roots"] == 1
    assert [call.parent_key for call in conversation.calls] == [None, None]
    assert {call.key for call in conversation.calls} == {"no_reply:p", "a"}


def test_entries_and_fields_of_wrong_types_are_survived():
    hostile = chatgpt([node("q", None, "user"), node("a", "q", "assistant")], "a")
    hostile["mapping"] |= {
        "number": 5,
        "list": [],
        "text": {"id": 7, "message": "hello", "parent": ["q"], "children": 3},
    }
    hostile["mapping"]["a"]["message"]["author"] = None
    hostile["mapping"]["q"]["message"]["metadata"] = "none"
    hostile["mapping"]["q"]["message"]["create_time"] = "yesterday"
    conversation = chatgpt_reader.conversation(hostile, Report(None))
    check_shape(conversation)
    assert conversation.report.skipped is None
    assert {"q", "a", "7"} <= _messages(conversation)
