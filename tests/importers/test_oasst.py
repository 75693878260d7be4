"""OpenAssistant: nested trees, flat messages and threads give the same conversations."""

from __future__ import annotations

import json

import pytest
from import_trees import check_shape, path_keys

from graphstore.importers import read


def reply(key, role, *replies, **fields):
    return {"message_id": key, "role": role, "text": f"text of {key}", "replies": list(replies)} | fields


TREE = {
    "message_tree_id": "q",
    "tree_state": "ready_for_export",
    "prompt": reply(
        "q",
        "prompter",
        reply("bad", "assistant", rank=1, labels={"spam": {"value": 0.1, "count": 3}}),
        reply("good", "assistant", reply("q2", "prompter", reply("end", "assistant")), rank=0, lang="en"),
        reply("gone", "assistant", deleted=True, review_result=False),
    ),
}


def flat(tree):
    rows = []
    stack = [(tree["prompt"], None)]
    while stack:
        row, parent = stack.pop()
        rows.append(
            {k: v for k, v in row.items() if k != "replies"}
            | {"parent_id": parent, "message_tree_id": tree["message_tree_id"]}
        )
        stack.extend((child, row["message_id"]) for child in reversed(row["replies"]))
    return rows


def _import(tmp_path, rows):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    conversations = list(read(path))
    for conversation in conversations:
        check_shape(conversation)
    return conversations


@pytest.mark.rule("I2", "I3")
def test_a_tree_keeps_its_branches_ranks_and_labels(tmp_path):
    [conversation] = _import(tmp_path, [TREE])
    assert conversation.source_id == "q"
    assert [call.key for call in conversation.calls] == ["bad", "good", "end", "gone"]
    assert conversation.calls[0].sent == conversation.calls[1].sent
    assert [call.metadata.get("rank") for call in conversation.calls] == [1, 0, None, None]
    assert conversation.calls[0].metadata["messages"]["bad"]["labels"]["spam"]["count"] == 3
    assert conversation.metadata["tree_state"] == "ready_for_export"


@pytest.mark.rule("I2")
def test_the_cursor_follows_the_best_ranked_replies_and_is_marked_guessed(tmp_path):
    [conversation] = _import(tmp_path, [TREE])
    assert path_keys(conversation, conversation.cursor_key) == ["q", "good", "q2", "end"]
    assert conversation.cursor_guessed


@pytest.mark.rule("I4")
def test_deleted_and_rejected_replies_are_kept_and_noted(tmp_path):
    [conversation] = _import(tmp_path, [TREE])
    assert conversation.report.counts["deleted"] == conversation.report.counts["rejected"] == 1


@pytest.mark.rule("I2", "I6")
def test_flat_messages_of_mixed_trees_are_gathered_from_anywhere_in_the_file(tmp_path):
    other = {"message_tree_id": "p", "prompt": reply("p", "prompter", reply("pa", "assistant"))}
    rows = flat(TREE)
    mixed = [rows[4], *flat(other), *rows[:4][::-1], *rows[5:]]
    conversations = {each.source_id: each for each in _import(tmp_path, mixed)}
    assert set(conversations) == {"p", "q"}
    whole = conversations["q"]
    assert {call.key for call in whole.calls} == {"bad", "good", "end", "gone"}
    assert path_keys(whole, whole.cursor_key) == ["q", "good", "q2", "end"]
    assert whole.report.counts["orphan"] == 0


def test_a_thread_is_one_line(tmp_path):
    rows = [{"message_id": "q", "role": "prompter", "text": "1"}, {"message_id": "a", "role": "assistant", "text": "2"}]
    [conversation] = _import(tmp_path, [{"thread_id": "t", "thread": rows}])
    assert (conversation.source_id, path_keys(conversation, "a")) == ("t", ["q", "a"])


@pytest.mark.rule("I4")
def test_a_reply_whose_parent_was_filtered_out_is_kept(tmp_path):
    rows = [row for row in flat(TREE) if row["message_id"] != "good"]
    [conversation] = _import(tmp_path, rows)
    assert conversation.report.counts["orphan"] == 1
    assert path_keys(conversation, "end") == ["q2", "end"]


@pytest.mark.rule("I4")
def test_bad_rows_between_good_ones_are_reported_one_by_one(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("null\n" + json.dumps(TREE) + '\n{"message_tree_id": "x", "prom\n[1]\n' + json.dumps(TREE) + "\n")
    found = list(read(path))
    assert [each.report.skipped is None for each in found] == [False, True, False, False, True]
