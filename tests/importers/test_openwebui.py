"""Open WebUI: the history is the truth, parents win over lists of children, and nothing that was said is lost."""

from __future__ import annotations

import html
import json

import pytest
from import_trees import by_key, check_shape, imported, path_items, path_keys

from graphstore.importers import detect
from graphstore.importers.details import items_of

pytestmark = pytest.mark.rule("I1", "I4")


def message(key, parent, role, content=None, children=(), **fields):
    entry = {"id": key, "parentId": parent, "childrenIds": list(children), "role": role}
    return entry | {"content": f"text of {key}" if content is None else content, "timestamp": 1700000000} | fields


def chat(entries, current, **fields):
    history = {"messages": {entry["id"]: entry for entry in entries}, "currentId": current}
    return {"id": "c1", "title": "t", "chat": {"title": "t", "models": ["m"], "history": history} | fields}


def read(tmp_path, value):
    conversation = imported(tmp_path, value)
    check_shape(conversation)
    assert conversation.source == "openwebui"
    return conversation


TWO = [message("q", None, "user", children=["a", "b"]), message("a", "q", "assistant", model="m1")]


def test_regenerated_answers_and_those_of_several_models_are_siblings_in_the_order_of_the_list(tmp_path):
    asked = [
        message("q", None, "user", children=["b", "a", "c"], models=["m1", "m2"]),
        message("a", "q", "assistant", model="m1", modelIdx=0),
        message("b", "q", "assistant", model="m2", modelIdx=1, children=["q2"]),
        message("c", "q", "assistant", model="m2", modelIdx=1),
        message("q2", "b", "user"),
    ]
    conversation = read(tmp_path, [chat(asked, "c", params={"system": "Be short."})])
    calls = by_key(conversation)
    assert [call.key for call in conversation.calls] == ["b", "no_reply:q2", "a", "c"]
    assert calls["a"].sent == calls["b"].sent == calls["c"].sent
    assert [calls[key].model for key in "abc"] == ["m1", "m2", "m2"]
    assert (conversation.cursor_key, conversation.cursor_guessed) == ("c", False)
    assert {call.system_prompt for call in conversation.calls} == {"Be short."}
    assert calls["b"].metadata["messages"]["b"]["modelIdx"] == 1


def test_the_list_beside_the_history_is_ignored_even_if_it_is_longer(tmp_path):
    stale = [{"role": "user", "content": "old"}, {"role": "assistant", "content": "old"}, {"role": "user"}]
    value = chat([*TWO, message("b", "q", "assistant")], "b", messages=stale)
    assert path_keys(read(tmp_path, value), "b") == ["q", "b"]


def test_without_a_history_the_list_is_read_as_one_line(tmp_path):
    said = [{"role": "user", "content": "1"}, {"role": "assistant", "content": "2"}, {"role": "user", "content": "3"}]
    conversation = read(tmp_path, {"id": "c", "chat": {"title": "t", "messages": said}})
    assert [item["content"] for item in path_items(conversation, conversation.cursor_key)] == ["1", "2", "3"]
    assert not conversation.cursor_guessed


def test_a_bare_chat_is_read_and_goes_by_its_first_message_where_it_has_no_id(tmp_path):
    bare = chat([*TWO, message("b", "q", "assistant")], "b")["chat"] | {"id": "", "timestamp": 1700000000123}
    conversation = read(tmp_path, bare)
    assert conversation.source_id == "q"
    assert conversation.created_at.timestamp() == 1700000000.123


@pytest.mark.rule("I2")
@pytest.mark.parametrize("current", ["gone", None, 5])
def test_a_pointer_to_nothing_is_noted_and_the_newest_leaf_guessed(tmp_path, current):
    late = message("b", "q", "assistant", timestamp=1700000009)
    conversation = read(tmp_path, chat([*TWO, late], current))
    assert (conversation.cursor_key, conversation.cursor_guessed) == ("b", True)
    assert conversation.report.counts["dangling_pointer"] == (current is not None)


def test_a_pointer_to_a_stub_without_role_takes_what_stands_above_it(tmp_path):
    stub = {"id": "stub", "parentId": "a", "childrenIds": [], "done": True}
    conversation = read(tmp_path, chat([*TWO, stub], "stub"))
    assert (conversation.cursor_key, conversation.cursor_guessed) == ("a", False)
    assert conversation.report.counts["unknown_content"] == 1


def test_lists_that_name_nobody_or_leave_children_out_lose_nothing(tmp_path):
    messages = [
        message("q", None, "user", children=["nobody"]),
        message("a", "q", "assistant", children=[]),
        message("q2", "a", "user", children=["b"]),
        message("b", "q2", "assistant"),
    ]
    conversation = read(tmp_path, chat(messages, "b"))
    assert path_keys(conversation, "b") == ["q", "a", "q2", "b"]
    assert conversation.report.counts["wrong_children"] == 2


@pytest.mark.parametrize("parent", [None, "undefined"])
def test_an_answer_without_a_parent_is_put_where_a_list_names_it(tmp_path, parent):
    answer = message("a", parent, "assistant")
    conversation = read(tmp_path, chat([message("q", None, "user", children=["a"]), answer], "a"))
    assert path_keys(conversation, "a") == ["q", "a"]
    assert conversation.report.counts["orphan"] == 1


def test_a_parent_that_was_left_out_altogether_is_found_too(tmp_path):
    answer = message("a", None, "assistant")
    del answer["parentId"]
    conversation = read(tmp_path, chat([message("q", None, "user", children=["a"]), answer], "a"))
    assert path_keys(conversation, "a") == ["q", "a"]


def test_branches_of_a_chat_imported_from_chatgpt_come_back(tmp_path):
    """Every parent is the message before it in the file; only the lists of children know of the branches."""
    order = ["q", "a", "b", "q2", "c"]
    children = {"q": ["a", "b"], "a": [], "b": ["q2"], "q2": ["c"], "c": []}
    roles = {"q": "user", "q2": "user"}
    messages = [
        message(key, before, roles.get(key, "assistant"), children=children[key])
        for before, key in zip([None, *order], order, strict=False)
    ]
    conversation = read(tmp_path, chat(messages, "c"))
    assert path_keys(conversation, "c") == ["q", "b", "q2", "c"]
    assert path_keys(conversation, "a") == ["q", "a"]
    assert conversation.report.counts["wrong_parents"] == 1
    assert conversation.report.counts["wrong_children"] == 0


def test_several_roots_are_not_welded_into_one_chain(tmp_path):
    messages = [
        message("q", None, "user", children=["a"]),
        message("a", "q", "assistant"),
        message("p", None, "user", children=["b"]),
        message("b", "p", "assistant"),
    ]
    conversation = read(tmp_path, chat(messages, "a"))
    assert [call.parent_key for call in conversation.calls] == [None, None]
    assert conversation.report.counts["several_roots"] == 1


OUTPUT = [
    {"type": "reasoning", "id": "r", "content": [{"type": "output_text", "text": "let me see"}], "summary": None},
    {"type": "function_call", "id": "f1", "call_id": "1", "name": "search", "arguments": "{}", "status": "completed"},
    {"type": "function_call", "id": "f2", "call_id": "2", "name": "search", "arguments": "{}", "status": "completed"},
    {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "one"}]},
    {"type": "function_call_output", "call_id": "2", "output": "two"},
    {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
]


@pytest.mark.rule("I3")
def test_output_is_preferred_to_its_copy_in_the_text_and_cut_into_calls(tmp_path):
    answer = message("a", "q", "assistant", "<details>…</details>done", output=OUTPUT, children=["q2"])
    messages = [message("q", None, "user", children=["a"]), answer, message("q2", "a", "user")]
    conversation = read(tmp_path, chat(messages, "q2"))
    first, second, third = conversation.calls
    assert [item["type"] for item in first.returned] == ["reasoning", "tool_call", "tool_call"]
    assert first.returned[0]["text"] == "let me see"
    assert [item["call_id"] for item in second.sent] == ["1", "2"]
    assert (second.parent_key, second.turn_key, second.round) == ("a", "a", 1)
    assert third.parent_key == second.key == "a:2"
    assert first.metadata["messages"]["a"]["content"] == "<details>…</details>done"
    assert conversation.report.counts["unpaired_call"] == 0


def test_an_output_of_an_unknown_kind_is_kept_raw(tmp_path):
    odd = {"type": "open_webui:code_interpreter", "code": "1+1"}
    messages = [message("q", None, "user", children=["a"]), message("a", "q", "assistant", output=[odd, OUTPUT[-1]])]
    conversation = read(tmp_path, chat(messages, "a"))
    assert conversation.calls[0].returned[0]["data"] == odd
    assert conversation.report.counts["unknown_content"] == 1


def test_reasoning_and_tools_in_the_text_of_older_chats_become_items(tmp_path):
    arguments = html.escape(json.dumps(json.dumps({"q": 'a "b" <c>'})))
    result = html.escape(json.dumps("found & kept"))
    said = (
        '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n'
        "&gt; first\n&gt; second\n</details>\nLet me look.\n"
        f'<details type="tool_calls" done="true" id="t1" name="search" arguments="{arguments}" result="{result}">\n'
        "<summary>Tool Executed</summary>\n</details>\nIt is there."
    )
    messages = [message("q", None, "user", children=["a"]), message("a", "q", "assistant", said)]
    first, second = read(tmp_path, chat(messages, "a")).calls
    assert first.returned[0] == {"type": "reasoning", "text": "first\nsecond"}
    assert first.returned[1]["content"] == "Let me look."
    assert json.loads(first.returned[2]["arguments"]) == {"q": 'a "b" <c>'}
    assert second.sent == [{"type": "tool_result", "call_id": "t1", "output": "found & kept"}]
    assert second.returned[0]["content"] == "It is there."
    assert first.metadata["messages"]["a"]["content"] == said


def test_a_result_that_stands_in_the_block_is_found(tmp_path):
    said = (
        '<details type="tool_calls" done="true" id="t" name="f" arguments="{}">\n'
        "<summary>x</summary>\n{&quot;n&quot;: 1}\n</details>"
    )
    runs = items_of("a", said)
    assert [items[0]["type"] for _, items in runs] == ["tool_call", "tool_result"]
    assert runs[1][1][0]["output"] == '{"n": 1}'


@pytest.mark.parametrize(
    "said",
    [
        'quoted: <details type="reasoning">x</details>',
        '```html\n<details type="reasoning">x</details>\n```',
        '<details type="reasoning">never ends',
        '<details type="tool_calls">no name</details>',
        "<details><summary>mine</summary>x</details>",
        "plain",
    ],
)
def test_blocks_that_are_only_text_stay_text(said):
    assert items_of("a", said) is None


@pytest.mark.rule("I6")
def test_blocks_without_end_take_linear_time(tmp_path):
    assert items_of("a", '<details type="reasoning">\n' * 200_000) is None
    many = items_of("a", '<details type="reasoning">\nx\n</details>\n' * 50_000)
    assert len(many) == 50_000


@pytest.mark.rule("I3")
def test_an_error_without_text_is_a_failed_call_and_its_retry_a_sibling(tmp_path):
    messages = [
        message("q", None, "user", children=["a", "b"]),
        message("a", "q", "assistant", "", error={"content": "429: slow down"}, done=True),
        message("b", "q", "assistant", done=True),
    ]
    failed, retried = read(tmp_path, chat(messages, "b")).calls
    assert (failed.key, failed.status, failed.failure_kind) == ("a", "failed", "error")
    assert failed.failure_message == "429: slow down"
    assert failed.sent == retried.sent


def test_an_error_after_some_text_keeps_the_text(tmp_path):
    broken = message("a", "q", "assistant", "half", error=True)
    [call] = read(tmp_path, chat([message("q", None, "user", children=["a"]), broken], "a")).calls
    assert (call.status, call.finish_reason, call.returned[0]["content"]) == ("succeeded", "error", "half")


@pytest.mark.rule("I3", "I5")
def test_a_place_kept_for_an_answer_is_no_answer(tmp_path):
    waiting = message("a", "q", "assistant", "", done=False)
    conversation = read(tmp_path, chat([message("q", None, "user", children=["a"]), waiting], "a"))
    [call] = conversation.calls
    assert (call.key, call.failure_kind, conversation.cursor_key) == ("no_reply:q", "no_reply", "no_reply:q")


def test_files_and_parts_of_a_question(tmp_path):
    png = "data:image/png;base64,iVBORw0KGgo="
    question = message(
        "q",
        None,
        "user",
        [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": png}}],
        files=[{"type": "file", "id": "f", "name": "a.pdf", "url": "/api/v1/files/f"}, {"type": "image", "url": png}],
    )
    [call] = read(tmp_path, chat([question], "q")).calls
    text, shown, file, image = call.sent[0]["content"]
    assert text == {"type": "text", "text": "see"}
    assert shown["data"] == image["data"] == "iVBORw0KGgo="
    assert (file["type"], file["filename"]) == ("file", "a.pdf")
    assert "url" not in file


def test_it_is_not_taken_for_rows_of_openai_although_a_list_of_messages_is_there(tmp_path):
    bare = chat(TWO, "a")["chat"] | {"messages": [{"role": "user", "content": "x"}]}
    (tmp_path / "x.json").write_text(json.dumps(bare))
    assert detect(tmp_path / "x.json") == "openwebui"


def test_hostile_fields_are_survived(tmp_path):
    value = chat([*TWO, message("b", "q", "assistant")], "b")
    value["chat"]["history"]["messages"] |= {
        "x": 5,
        "y": {"role": "wizard", "content": "abra", "parentId": ["q"], "childrenIds": 3},
        "z": {"role": "assistant", "content": {"odd": True}, "parentId": "z", "output": "none", "files": 7},
    }
    value["chat"]["params"] = [1]
    conversation = read(tmp_path, value)
    assert conversation.report.skipped is None
    assert {"q", "a", "b", "y", "z"} <= {
        key for call in conversation.calls for key in call.sent_keys + call.returned_keys
    }
