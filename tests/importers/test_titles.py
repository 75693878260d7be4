"""Titles of conversations whose source has none."""

from __future__ import annotations

import json

import pytest
from import_trees import chatgpt, imported, node

from graphstore.importers import read
from graphstore.importers.titles import LONGEST, shortened

pytestmark = pytest.mark.rule("I3")


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("why?", "why?"),
        (" two\n lines ", "two lines"),
        ("word " * 30, "word " * 11 + "word…"),
        ("x" * 61, "x" * 59 + "…"),
        ("x" * 60, "x" * 60),
        ("", ""),
    ],
)
def test_a_title_is_one_line_of_at_most_sixty_characters_cut_at_a_word(words, title):
    assert shortened(words) == title
    assert len(title) <= LONGEST


def test_rows_and_trees_without_a_title_go_by_their_first_question(tmp_path):
    row = {
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "What is\na monopsony?"}]},
            {"role": "assistant", "content": "One buyer."},
        ]
    }
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    assert [each.title for each in read(tmp_path / "rows.jsonl")] == ["What is a monopsony?"]
    prompt = {"message_id": "m", "role": "prompter", "text": "Hello there", "replies": []}
    assert imported(tmp_path, {"message_tree_id": "m", "prompt": prompt}).title == "Hello there"


def test_a_title_of_the_source_stays_and_one_of_nothing_does_not(tmp_path):
    nodes = [node("q", None, "user", "The question"), node("a", "q", "assistant")]
    assert imported(tmp_path, chatgpt(nodes, "a", title="Given")).title == "Given"
    assert imported(tmp_path, chatgpt(nodes, "a", title=None)).title == "The question"
    assert imported(tmp_path, chatgpt(nodes, "a", title=" ")).title == "The question"
    assert imported(tmp_path, chatgpt([node("a", None, "assistant")], "a", title=None)).title is None
