"""Claude Code: answers in several lines, parallel calls, rewinds, compactions, sub-agents, forks, broken links."""

from __future__ import annotations

import json

import pytest
from import_trees import by_key, check_shape, path_keys

from graphstore.importers import detect, read

pytestmark = pytest.mark.rule("I1", "I4")

CLOCK = "2026-01-01T00:00:00Z"


def user(key, parent, said=None, **fields):
    body = {"role": "user", "content": f"text of {key}" if said is None else said}
    return {
        "type": "user",
        "uuid": key,
        "parentUuid": parent,
        "sessionId": "s",
        "timestamp": CLOCK,
        "message": body,
    } | fields


def assistant(key, parent, *blocks, id=None, **fields):
    blocks = list(blocks) or [{"type": "text", "text": f"text of {key}"}]
    body = {"id": id or f"msg_{key}", "role": "assistant", "model": "claude", "content": blocks}
    line = {
        "type": "assistant",
        "uuid": key,
        "parentUuid": parent,
        "sessionId": "s",
        "timestamp": CLOCK,
        "message": body,
    }
    return line | fields


def use(call_id):
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {}}


def result(key, parent, call_id, **fields):
    return user(key, parent, [{"type": "tool_result", "tool_use_id": call_id, "content": f"out {call_id}"}], **fields)


def written(folder, *lines, name="s.jsonl"):
    path = folder / name
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def imported(folder, *lines):
    path = written(folder, *lines)
    assert detect(path) == "claude_code"
    conversations = list(read(path))
    for conversation in conversations:
        check_shape(conversation)
    return conversations


@pytest.mark.rule("I3")
def test_parallel_calls_are_one_call_and_no_branches(tmp_path):
    lines = [
        user("q", None),
        assistant("a1", "q", {"type": "thinking", "thinking": "hm", "signature": "x"}, id="m"),
        assistant("a2", "a1", use("t1"), id="m"),
        assistant("a3", "a2", use("t2"), id="m"),
        result("r1", "a2", "t1"),
        result("r2", "a3", "t2"),
        assistant("b", "r2"),
    ]
    [conversation] = imported(tmp_path, *lines)
    first, second = conversation.calls
    assert [item["type"] for item in first.returned] == ["reasoning", "tool_call", "tool_call"]
    assert [item["output"] for item in second.sent] == ["out t1", "out t2"]
    assert (second.parent_key, second.turn_key, second.round) == ("a1", "a1", 1)
    assert (conversation.cursor_key, conversation.cursor_guessed) == ("b", False)


@pytest.mark.parametrize("under", ["r1", "r2"])
def test_results_written_between_the_lines_of_an_answer_or_late_fork_nothing(tmp_path, under):
    lines = [
        user("q", None),
        assistant("a1", "q", use("t1"), id="m"),
        result("r1", "a1", "t1"),
        assistant("a2", "r1", use("t2"), id="m"),
        result("r2", "a2", "t2"),
        assistant("b", under),
    ]
    [conversation] = imported(tmp_path, *lines)
    assert path_keys(conversation, "b") == ["q", "a1", "r1", "r2", "b"]
    assert len(conversation.calls) == 2


@pytest.mark.rule("I2", "I3")
def test_a_rewind_is_a_branch_and_the_last_written_message_is_active(tmp_path):
    lines = [
        user("q", None),
        assistant("a", "q"),
        user("q2", "a"),
        assistant("b", "q2"),
        user("q3", "a"),
        assistant("c", "q3"),
    ]
    [conversation] = imported(tmp_path, *lines)
    assert path_keys(conversation, "b") == ["q", "a", "q2", "b"]
    assert path_keys(conversation, conversation.cursor_key) == ["q", "a", "q3", "c"]


def test_progress_and_system_lines_fork_nothing_and_are_kept(tmp_path):
    def line(kind, key, parent):
        return {"type": kind, "uuid": key, "parentUuid": parent, "sessionId": "s", "content": "x"}

    lines = [
        user("q", None),
        line("attachment", "x", "q"),
        line("progress", "p1", "x"),
        assistant("a", "p1"),
        line("progress", "p2", "a"),
        line("system", "z", "p2"),
        user("q2", "a"),
        {"type": "file-history-snapshot", "messageId": "q2", "snapshot": {}},
        assistant("b", "q2"),
    ]
    [conversation] = imported(tmp_path, *lines)
    assert path_keys(conversation, "b") == ["q", "a", "q2", "b"]
    assert len(conversation.calls) == 2
    assert by_key(conversation)["a"].metadata["messages"]["q"]["beside"][0]["type"] == "attachment"
    assert conversation.metadata["lines"]["progress"] == 2


COMPACTED = [
    user("q", None),
    assistant("a", "q"),
    {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "c",
        "parentUuid": None,
        "logicalParentUuid": "a",
        "sessionId": "s",
    },
    user("sum", "c", "what was said", isCompactSummary=True),
    user("q2", "sum"),
    assistant("b", "q2"),
]


@pytest.mark.rule("K1")
def test_a_compaction_hangs_on_its_original_and_contexts_stop_at_it(store, tmp_path):
    [conversation] = imported(tmp_path, *COMPACTED)
    assert [(call.key, call.parent_key, call.compacts_key) for call in conversation.calls] == [
        ("a", None, None),
        ("sum", None, "a"),
        ("b", "sum", None),
    ]
    [outcome] = store.import_file(tmp_path / "s.jsonl")
    context = store.context(outcome.conversation_id)
    assert [item["content"] for item in context.items] == [
        "what was said",
        "text of q2",
        [{"type": "text", "text": "text of b"}],
    ]
    assert not context.warnings
    assert len(store.path(outcome.conversation_id)) == 3
    assert store.verify().found == 0
    [again] = store.import_file(tmp_path / "s.jsonl")
    assert (again.nodes_added, again.nodes_known) == (0, 3)


def test_an_answer_right_behind_a_summary_is_a_call_of_its_own(tmp_path):
    [conversation] = imported(tmp_path, *COMPACTED[:4], assistant("b", "sum"))
    assert [call.key for call in conversation.calls] == ["a", "sum", "b"]
    assert by_key(conversation)["b"].parent_key == "sum"


def test_a_summary_whose_original_is_nowhere_begins_the_conversation(tmp_path):
    [conversation] = imported(tmp_path, *COMPACTED[2:])
    assert [call.compacts_key for call in conversation.calls] == [None, None]
    assert path_keys(conversation, "b") == ["sum", "q2", "b"]


@pytest.mark.rule("I3")
def test_sub_agents_are_conversations_that_name_what_started_them(tmp_path):
    lines = [
        user("q", None),
        assistant("a", "q", use("t1")),
        result("r", "a", "t1", toolUseResult={"agentId": "ag"}),
        assistant("b", "r"),
    ]
    side = {"isSidechain": True, "agentId": "ag"}
    written(tmp_path, user("sq", None, **side), assistant("sa", "sq", **side), name="agent-ag.jsonl")
    written(tmp_path, *lines)
    agent, main = sorted(read(tmp_path), key=lambda each: each.source_id, reverse=True)
    assert (main.source_id, agent.source_id) == ("s", "s/ag")
    assert path_keys(main, main.cursor_key) == ["q", "a", "r", "b"]
    assert path_keys(agent, agent.cursor_key) == ["sq", "sa"]
    assert agent.metadata["started_by"] == {"conversation": "s", "message": "r", "tool_calls": ["t1"]}


def test_side_chains_within_a_session_are_told_apart(tmp_path):
    side = {"isSidechain": True}
    lines = [
        user("q", None),
        user("x", None, **side),
        assistant("x1", "x", **side),
        user("y", None, **side),
        assistant("y1", "y", **side),
        assistant("a", "q"),
    ]
    conversations = imported(tmp_path, *lines)
    assert sorted(each.source_id for each in conversations) == ["s", "s/x", "s/y"]


@pytest.mark.rule("I5")
def test_a_forked_session_is_a_branch_of_the_original(store, tmp_path):
    lines = [user("q", None), assistant("a", "q")]
    copied = [
        user("q'", None, "text of q", sessionId="f", forkedFrom={"sessionId": "s", "messageUuid": "q"}),
        assistant("a'", "q'", sessionId="f", forkedFrom={"sessionId": "s", "messageUuid": "a"}),
        user("q2", "a'", sessionId="f"),
        assistant("b", "q2", sessionId="f"),
    ]
    copied[1]["message"] = lines[1]["message"]
    written(tmp_path, *lines, name="1.jsonl")
    written(tmp_path, *copied, name="2.jsonl")
    [conversation] = read(tmp_path)
    check_shape(conversation)
    assert [call.key for call in conversation.calls] == ["a", "b"]
    assert path_keys(conversation, "b") == ["q", "a", "q2", "b"]
    [first] = store.import_file(tmp_path / "1.jsonl")
    [second] = store.import_file(tmp_path)
    assert first.conversation_id == second.conversation_id
    assert (first.nodes_added, second.nodes_added) == (1, 1)


def test_lines_that_stand_there_twice_with_one_uuid(tmp_path):
    lines = [user("q", None), assistant("a", "q"), user("q", None), user("q", None, "other words")]
    [conversation] = imported(tmp_path, *lines)
    assert conversation.report.counts["duplicate_id"] == 2
    assert [call.key for call in conversation.calls] == ["a", "no_reply:q#2"]


def test_a_parent_that_was_never_written_is_the_message_before(tmp_path):
    [conversation] = imported(tmp_path, user("q", None), assistant("a", "q"), user("q2", "gone"), assistant("b", "q2"))
    assert path_keys(conversation, "b") == ["q", "a", "q2", "b"]
    assert conversation.report.counts["orphan"] == 1


def test_errors_of_the_api_are_failed_calls_and_the_retry_goes_on(tmp_path):
    error = assistant("e", "q", {"type": "text", "text": "API Error: 529"}, isApiErrorMessage=True)
    [conversation] = imported(tmp_path, user("q", None), error, assistant("a", "e"))
    calls = by_key(conversation)
    assert (calls["e"].status, calls["e"].failure_message) == ("failed", "API Error: 529")
    assert path_keys(conversation, "a") == ["q", "e", "a"]


@pytest.mark.rule("I4", "I6")
def test_bad_lines_are_named_titles_and_usage_are_read_and_sessions_told_apart(tmp_path):
    usage = {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 5, "cache_creation_input_tokens": None}
    answer = assistant("a", "q")
    answer["message"]["usage"] = usage
    lines = [
        user("q", None),
        "{broken",
        "[1]",
        answer,
        {"type": "summary", "summary": "My title", "leafUuid": "a"},
        user("o", None, sessionId="other"),
        user("bad", "a", {"odd": 1}),
        '{"type": "assis',
    ]
    main, other = imported(tmp_path, *lines)
    assert (main.title, other.source_id) == ("My title", "other")
    assert main.report.counts["damaged"] == 3
    assert main.report.counts["unknown_content"] == 1
    assert by_key(main)["a"].usage == {"input_tokens": 3, "output_tokens": 4, "cached_input_tokens": 5}
    assert main.cursor_key == "no_reply:bad"


@pytest.mark.rule("I6")
def test_a_long_run_of_progress_and_a_long_session_are_linear(tmp_path):
    lines = [user("q", None)]
    lines += [
        {"type": "progress", "uuid": f"p{at}", "parentUuid": f"p{at - 1}" if at else "q", "sessionId": "s"}
        for at in range(20_000)
    ]
    lines += [user(f"u{at}", f"p{at}") for at in range(0, 20_000, 10)]
    [conversation] = imported(tmp_path, *lines)
    assert len(conversation.calls) == 2_000
