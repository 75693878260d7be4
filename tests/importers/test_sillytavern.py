"""SillyTavern: swipes are siblings, branch files share their beginning, lines of any shape are kept or named."""

from __future__ import annotations

import json

import pytest
from import_trees import check_shape, path_items

from graphstore.importers import detect, read

pytestmark = pytest.mark.rule("I1", "I4")

HEADER = {"user_name": "Me", "character_name": "Seraphina", "create_date": "2026-6-2 @10h 15m 30s 123ms"}


def line(said, asked=False, **fields):
    who = "Me" if asked else "Seraphina"
    return {
        "name": who,
        "is_user": asked,
        "is_system": False,
        "mes": said,
        "send_date": "June 2, 2026 10:15am",
    } | fields


def chat(folder, name, *lines, main=None):
    metadata = {"chat_metadata": {"main_chat": main}} if main else {"chat_metadata": {}}
    rows = [row if isinstance(row, str) else json.dumps(row) for row in (HEADER | metadata, *lines)]
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(rows))
    return path


def one(path):
    [conversation] = read(path)
    check_shape(conversation)
    return conversation


def said(conversation, key):
    return [item["content"] for item in path_items(conversation, key) if item["type"] == "message"]


def ends(conversation):
    inner = {call.parent_key for call in conversation.calls}
    return sorted(said(conversation, call.key) for call in conversation.calls if call.key not in inner)


SWIPED = line("B", swipe_id=1, swipes=["A", "B", "C"], swipe_info=[{"extra": {"model": "m1"}}, {}, {}])


@pytest.mark.rule("I2", "I3")
def test_swipes_are_siblings_and_the_chosen_one_goes_on(tmp_path):
    conversation = one(chat(tmp_path, "x", line("hi", True), SWIPED, line("more", True), line("end")))
    assert ends(conversation) == [["hi", "A"], ["hi", "B", "more", "end"], ["hi", "C"]]
    assert (said(conversation, conversation.cursor_key), conversation.cursor_guessed) == (
        ["hi", "B", "more", "end"],
        False,
    )
    assert [call.returned[0]["content"] for call in conversation.calls][:2] == ["A", "B"]
    models = {call.returned[0]["content"]: call.model for call in conversation.calls}
    assert models["A"] == "m1"
    assert conversation.created_at.isoformat() == "2026-06-02T10:15:30+00:00"
    assert conversation.calls[0].created_at.isoformat() == "2026-06-02T10:15:00+00:00"


@pytest.mark.parametrize("info", [{}, {"swipe_info": [{}]}], ids=["none", "too few"])
def test_swipes_without_their_information_are_read(tmp_path, info):
    row = {field: value for field, value in SWIPED.items() if field != "swipe_info"} | info
    assert len(ends(one(chat(tmp_path, "x", line("hi", True), row)))) == 3


def test_a_text_edited_after_its_swipe_counts_and_the_swipe_is_kept(tmp_path):
    conversation = one(chat(tmp_path, "x", line("hi", True), line("B!", swipe_id=1, swipes=["A", "B"])))
    assert ends(conversation) == [["hi", "A"], ["hi", "B!"]]
    end = next(call for call in conversation.calls if call.key == conversation.cursor_key)
    assert end.metadata["messages"][end.key]["swipe"] == "B"


def test_equal_swipes_stay_two(tmp_path):
    conversation = one(chat(tmp_path, "x", line("hi", True), line("A", swipe_id=0, swipes=["A", "A"])))
    assert ends(conversation) == [["hi", "A"], ["hi", "A"]]


@pytest.mark.rule("I2")
def test_branch_files_and_their_main_chat_are_one_tree(tmp_path):
    start = [line("hello"), line("hi", True), line("A")]
    chat(tmp_path, "a branch", *start[:2], line("other"), main="main")
    chat(tmp_path, "b of a", *start[:2], line("other"), line("deep", True), line("deeper"), main="a branch")
    chat(tmp_path, "main", *start)
    conversation = one(tmp_path)
    assert ends(conversation) == [["hello", "hi", "A"], ["hello", "hi", "other", "deep", "deeper"]]
    assert said(conversation, conversation.cursor_key) == ["hello", "hi", "A"]
    assert conversation.source_id == "Seraphina/main"


def test_branch_files_that_name_each_other_end_somewhere(tmp_path):
    chat(tmp_path, "a", line("hi", True), main="b")
    chat(tmp_path, "b", line("hi", True), line("A"), main="a")
    assert {call.status for each in read(tmp_path) for call in each.calls} <= {"succeeded", "failed"}


@pytest.mark.rule("I5")
def test_a_branch_imported_alone_joins_its_main_chat_later(store, tmp_path):
    branch = chat(tmp_path, "branch", line("hi", True), line("B"), main="main")
    [first] = store.import_file(branch)
    main = chat(tmp_path, "main", line("hi", True), line("A"))
    [second] = store.import_file(main)
    [again] = store.import_file(tmp_path)
    assert first.conversation_id == second.conversation_id == again.conversation_id
    assert (first.nodes_added, second.nodes_added, again.nodes_added) == (1, 1, 0)


def test_system_notes_hidden_turns_reasoning_and_tools(tmp_path):
    invoked = [{"id": "t", "name": "dice", "parameters": '{"n":6}', "result": "4"}]
    rows = [
        line("It rains.", is_system=True, extra={"type": "narrator"}),
        line("roll", True, is_system=True),
        line("", is_system=True, extra={"tool_invocations": invoked}),
        line("Four.", extra={"reasoning": "hm", "model": "m"}),
    ]
    conversation = one(chat(tmp_path, "x", *rows))
    items = path_items(conversation, conversation.cursor_key)
    kinds = [item.get("role", item["type"]) for item in items]
    assert kinds == ["system", "user", "tool_call", "tool_result", "reasoning", "assistant"]
    assert not conversation.report.counts["unpaired_call"]


def test_texts_wrapped_in_objects_and_missing_fields(tmp_path):
    rows = [line({"message": "hi"}, True), {"name": "S", "mes": "A", "swipes": [{"message": "A"}, {"message": "B"}]}]
    assert ends(one(chat(tmp_path, "x", *rows))) == [["hi", "A"], ["hi", "B"]]


@pytest.mark.rule("I4", "I6")
def test_bad_lines_are_named_and_the_rest_is_read(tmp_path):
    path = chat(tmp_path, "x", line("hi", True), "{broken", "[1]", '{"odd": 1}', line(5), line("A"))
    conversation = one(path)
    assert said(conversation, conversation.cursor_key) == ["hi", "A"]
    assert conversation.report.counts["damaged"] == 2
    assert conversation.report.counts["unknown_content"] == 2
    assert any("record 2" in note for note in conversation.report.notes)


def test_a_chat_without_header_is_recognised_and_one_without_messages_skipped(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(line("hi", True)) + "\n" + json.dumps(line("A")))
    assert detect(path) == "sillytavern"
    assert len(one(path).calls) == 1
    assert one(chat(tmp_path, "empty")).report.skipped == "it has no messages"
