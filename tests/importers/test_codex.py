"""Codex: forks share their beginning, rollbacks leave branches, compactions, sub-agents, older generations."""

from __future__ import annotations

import json

import pytest
from import_trees import check_shape, path_items

from graphstore.importers import detect, read

pytestmark = pytest.mark.rule("I1", "I4")


def line(kind, at=0, **payload):
    return {"timestamp": f"2026-01-01T00:00:{at:02}Z", "type": kind, "payload": payload}


def meta(id, **fields):
    return line("session_meta", id=id, timestamp="2026-01-01T00:00:00Z", **fields)


def asked(said, at=0):
    return line("response_item", at, type="message", role="user", content=[{"type": "input_text", "text": said}])


def told(said, at=0):
    return line("response_item", at, type="message", role="assistant", content=[{"type": "output_text", "text": said}])


def event(kind, **fields):
    return line("event_msg", type=kind, **fields)


def written(folder, *lines, name="rollout-1.jsonl"):
    path = folder / name
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in lines))
    return path


def imported(path):
    conversations = list(read(path))
    for conversation in conversations:
        check_shape(conversation)
        assert conversation.source == "codex"
    return conversations


def words(conversation, key):
    return [
        part["text"] for item in path_items(conversation, key) if item["type"] == "message" for part in item["content"]
    ]


def ends(conversation):
    inner = {call.parent_key for call in conversation.calls}
    return sorted(words(conversation, call.key) for call in conversation.calls if call.key not in inner)


START = [
    meta("s1", base_instructions={"text": "Be Codex."}),
    line("turn_context", model="gpt-5-codex"),
    asked("hi"),
    told("A"),
]


@pytest.mark.rule("I2", "I3")
def test_a_session_is_a_line_of_calls_with_rounds_models_and_usage(tmp_path):
    rows = [
        *START[:3],
        line("response_item", type="reasoning", summary=[], encrypted_content="x"),
        line("response_item", type="function_call", name="shell", arguments="{}", call_id="c1"),
        event("agent_message", message="a copy"),
        event(
            "token_count", info={"last_token_usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}}
        ),
        line("response_item", type="function_call_output", call_id="c1", output="ok"),
        line("response_item", type="custom_tool_call", name="patch", input="raw text", call_id="c2"),
        line("response_item", type="custom_tool_call_output", call_id="c2", output="done"),
        told("A"),
    ]
    path = written(tmp_path, *rows)
    assert detect(path) == "codex"
    [conversation] = imported(path)
    first, second, third = conversation.calls
    assert [item["type"] for item in first.returned] == ["reasoning", "tool_call"]
    assert first.usage == {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}
    assert (first.model, first.system_prompt) == ("gpt-5-codex", "Be Codex.")
    assert second.returned[0]["arguments"] == "raw text"
    assert (third.turn_key, third.round) == (first.key, 2)
    assert (conversation.cursor_key, conversation.cursor_guessed) == (third.key, False)
    assert not conversation.report.counts["unpaired_call"]


@pytest.mark.rule("I2")
def test_what_a_rollback_left_is_a_branch_and_the_same_question_again_a_regenerate(tmp_path):
    rows = [*START, asked("more"), told("B"), event("thread_rolled_back", num_turns=1), asked("more"), told("C")]
    [conversation] = imported(written(tmp_path, *rows))
    assert ends(conversation) == [["hi", "A", "more", "B"], ["hi", "A", "more", "C"]]
    assert words(conversation, conversation.cursor_key)[-1] == "C"
    left, kept = conversation.calls[1:]
    assert left.sent == kept.sent


def test_what_is_said_in_the_users_name_is_no_turn_to_roll_back(tmp_path):
    rows = [*START, asked("<environment_context>x</environment_context>"), asked("more"), told("B")]
    [conversation] = imported(
        written(tmp_path, *rows, event("thread_rolled_back", num_turns=2), asked("new"), told("C"))
    )
    assert words(conversation, conversation.cursor_key) == ["new", "C"]
    [all_gone] = imported(written(tmp_path, *START, event("thread_rolled_back", num_turns=5), asked("new"), told("C")))
    assert all_gone.report.counts["dangling_pointer"] == 1


@pytest.mark.rule("I5")
def test_a_fork_shares_its_beginning_with_its_parent_whatever_is_imported_first(store, tmp_path):
    parent = written(tmp_path, *START, asked("more", 5), told("B", 6))
    replayed = [meta("s2", forked_from_id="s1"), *(row | {"timestamp": "2026-01-02T00:00:00Z"} for row in START)]
    fork = written(tmp_path, *replayed, asked("other"), told("C"), name="rollout-2.jsonl")
    [conversation] = imported(tmp_path)
    assert conversation.source_id == "s1"
    assert ends(conversation) == [["hi", "A", "more", "B"], ["hi", "A", "other", "C"]]
    assert words(conversation, conversation.cursor_key)[-1] == "B"
    added = [store.import_file(path) for path in (fork, parent, tmp_path)]
    assert [outcome.nodes_added for outcomes in added for outcome in outcomes] == [2, 1, 0]


@pytest.mark.rule("I2")
def test_a_session_that_was_resumed_ends_where_the_resumed_one_does(tmp_path):
    written(tmp_path, *START)
    written(tmp_path, meta("s2", forked_from_id="s1"), *START, asked("on"), told("B"), name="rollout-2.jsonl")
    [conversation] = imported(tmp_path)
    assert words(conversation, conversation.cursor_key) == ["hi", "A", "on", "B"]


def test_a_sub_agent_is_a_conversation_that_names_who_started_it(tmp_path):
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "s1", "depth": 1}}}
    written(tmp_path, *START)
    written(
        tmp_path, meta("s2", source=source, forked_from_id="s1"), asked("task"), told("done"), name="rollout-2.jsonl"
    )
    main, agent = imported(tmp_path)
    assert (main.source_id, agent.source_id) == ("s1", "s2")
    assert agent.metadata["started_by"] == {"conversation": "s1"}


@pytest.mark.rule("K1", "K3")
def test_compactions_with_a_history_with_only_words_and_closed_ones(store, tmp_path):
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "so far"}]}]
    closed = [*history, {"type": "compaction", "encrypted_content": "zzz"}]
    rows = [
        *START,
        line("compacted", message="words", replacement_history=[]),
        asked("1"),
        told("B"),
        line("compacted", message="", replacement_history=history),
        told("C"),
        line("compacted", message="", replacement_history=closed),
        asked("2"),
        told("D"),
    ]
    path = written(tmp_path, *rows)
    [conversation] = imported(path)
    compactions = [call for call in conversation.calls if call.compacts_key is not None]
    assert [call.readers for call in compactions] == [["*"], ["*"], ["openai"]]
    assert compactions[0].returned[0]["content"] == "words"
    [outcome] = store.import_file(path)
    readable = store.context(outcome.conversation_id, for_provider="openai")
    assert [item.get("type") for item in readable.items] == ["message", "raw", "message", "message"]
    unfolded = store.context(outcome.conversation_id, for_provider="anthropic")
    assert [part["text"] for item in unfolded.items for part in item["content"]] == ["so far", "C", "2", "D"]
    assert store.verify().found == 0


@pytest.mark.rule("I4", "I6")
def test_bad_lines_are_named_and_older_generations_read(tmp_path):
    rows = [*START[:3], "{", "[]", line("response_item", type="message", role="ghost", content=1), START[3]]
    [conversation] = imported(written(tmp_path, *rows))
    assert conversation.report.counts["damaged"] == 2
    assert conversation.report.counts["unknown_content"] == 1
    old = [
        {"id": "old", "timestamp": "2025-05-01T00:00:00Z", "instructions": "Be old.", "git": {}},
        {"record_type": "state"},
        asked("hi")["payload"],
        told("A")["payload"],
    ]
    [older] = imported(written(tmp_path, *old))
    assert (older.source_id, older.calls[0].system_prompt) == ("old", "Be old.")
    assert words(older, older.cursor_key) == ["hi", "A"]
    [empty] = imported(written(tmp_path, meta("e")))
    assert empty.report.skipped == "it has no messages"


def test_a_turn_that_was_stopped_says_so(tmp_path):
    [conversation] = imported(written(tmp_path, *START, event("turn_aborted", reason="interrupted")))
    assert conversation.calls[0].finish_reason == "cancelled"
