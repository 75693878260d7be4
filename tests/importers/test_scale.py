"""Long chains in linear time, big files in the memory of one conversation."""

from __future__ import annotations

import functools
import gzip
import json
import time
import tracemalloc

import pytest
from import_trees import chatgpt, node

from graphstore.importers import Report, claude_ai, read
from graphstore.importers import chatgpt as chatgpt_reader


def _chain(length, roles=("user", "assistant")):
    nodes = [node("m0", None, "user")]
    nodes += [node(f"m{at}", f"m{at - 1}", roles[at % len(roles)]) for at in range(1, length)]
    return nodes


def _seconds(nodes, current):
    record = chatgpt(nodes, current)
    start = time.process_time()
    conversation = chatgpt_reader.conversation(record, Report(None))
    return time.process_time() - start, conversation


@pytest.mark.rule("I6")
def test_a_chain_of_100_000_messages_takes_linear_time_even_deepest_first():
    short, _ = _seconds(_chain(10_000)[::-1], "m9999")
    long, conversation = _seconds(_chain(100_000)[::-1], "m99999")
    assert len(conversation.calls) == 50_000
    assert conversation.cursor_key == "m99999"
    assert long < 30 * max(short, 0.05)


@pytest.mark.rule("I6")
@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_runs_of_one_role_that_fork_at_every_step_stay_bounded(role):
    nodes = _chain(20_000, (role,))
    nodes += [node(f"u{at}", f"m{at}", "user") for at in range(0, 20_000, 2)]
    seconds, conversation = _seconds(nodes, None)
    assert sum(len(call.sent_keys) + len(call.returned_keys) for call in conversation.calls) < 300 * len(nodes)
    assert seconds < 30


@pytest.mark.rule("I6")
def test_a_chain_of_nodes_without_messages_is_passed_in_linear_time():
    nodes = [node("m0", None, "user"), *(node(f"m{at}", f"m{at - 1}", None) for at in range(1, 30_000))]
    nodes += [node(f"u{at}", "m29999", "user") for at in range(3_000)]
    seconds, conversation = _seconds(nodes, None)
    assert len(conversation.calls) == 3_000
    assert seconds < 20


@pytest.mark.rule("I6")
def test_a_long_claude_thread_is_linear_too():
    messages = [{"uuid": f"m{at}", "sender": ("human", "assistant")[at % 2], "text": "x"} for at in range(50_000)]
    conversation = claude_ai.conversation({"uuid": "c", "chat_messages": messages}, Report(None))
    assert len(conversation.calls) == 25_000


@pytest.mark.rule("I6")
@pytest.mark.parametrize("opened", [open, functools.partial(gzip.open, compresslevel=1)], ids=["plain", "gzip"])
def test_a_big_file_is_read_in_the_memory_of_one_conversation(tmp_path, opened):
    path = tmp_path / "big"
    text = json.dumps(chatgpt([*_chain(20), node("big", "m19", "user", "x" * 130_000)], "big"))
    with opened(path, "wt") as out:
        out.write("[")
        for number in range(400):
            out.write(("," if number else "") + text.replace('"c1"', f'"c{number}"', 1))
        out.write("]")
    size = 400 * len(text)
    assert size > 50_000_000
    tracemalloc.start()
    try:
        count = sum(len(conversation.calls) for conversation in read(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 400 * 11
    assert peak < 20_000_000
