"""A workspace with everything in it that a store can hold, made through public verbs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from graphstore import GraphStore, errors

EXPORT = Path(__file__).parents[1] / "graphstore" / "cli" / "demo" / "conversations.json"
HOSTILE = 'NUL \x00, half \ud83d, "\\/blob\\/t\\/' + "0" * 64 + '", \u202e, \U0001f600, 1e400'
HEAVY = "heavy payload " * 500
BIG_NUMBERS = b'[{"type":"message","role":"user","content":"n","n":9007199254740993,"m":1e400,"k":-0,"l":1.10}]'


@dataclass(frozen=True)
class Rich:
    """Names of what the workspace holds."""

    talk: str
    fork: str
    first: str
    abandoned: str
    hidden: str
    compaction: str
    conversion: str
    pending: str
    cleared: str
    effect: str


def ask(store: GraphStore, conversation_id: str, question: Any, answer: Any, **options: Any) -> str:
    with store.turn(conversation_id) as turn:
        call = turn.call(question, **options)
        call.succeed(answer, usage={"input_tokens": 2**53 + 1, "output_tokens": 1})
    return call.id


def fill(store: GraphStore) -> Rich:
    """Make it all. Takes about a second."""
    talk = store.create_conversation(title=HOSTILE, metadata={"tags": ["kept", "b"], "n": 2**60})
    first = ask(store, talk, HOSTILE, HEAVY, system="be brief", tools=[{"name": "search"}], model="m", provider="p")
    with store.turn(talk) as turn:
        call = turn.call("search", response_format={"n": 1.50}, parameters={"temperature": 0.1})
        call.succeed([{"type": "tool_call", "call_id": "c\x00", "name": "search", "arguments": "{}"}])
        late = turn.call([{"type": "tool_result", "call_id": "c\x00", "output": HEAVY}], metadata={"a": [1]})
        late.succeed("found", response_id="r1", finish_reason="stop")
    abandoned = ask(store, talk, BIG_NUMBERS, "left")
    with store.regenerate(talk) as again:
        again.current.succeed("kept")
    with store.edit(talk, abandoned, "edited") as edited:
        edited.current.succeed("hidden")
    hidden = edited.current.id
    store.switch(talk, again.current.id)
    store.tombstone(hidden)
    # a race that was lost: a refused move, and a branch that nobody has seen
    losing = store.turn(talk, exclusive=False)
    lost = losing.call("other tab")
    ask(store, talk, "this tab", "won")
    with pytest.raises(errors.CursorMoved):
        lost.succeed("lost", end_turn=True)
    for kind, message in (("rate_limit", HOSTILE), ("context_overflow", "")):
        failing = store.turn(talk).call("fails")
        failing.fail(kind, message)
    store.correct(talk, "corrected by hand")
    with store.turn(talk) as stopped:
        stopped.call("stop").succeed(
            [{"type": "tool_call", "call_id": "open", "name": "t", "arguments": "{}"}], finish_reason="cancelled"
        )
    after_stop = ask(store, talk, "go on", "yes")
    fork = store.fork(abandoned, title="a fork")
    ask(store, fork, "in the fork", "there")
    compaction = store.compact(talk, "summary", sent="summarise", readers=["openai"])
    ask(store, talk, "read", "summary", provider="openai")
    ask(store, talk, "unfolded", "original", provider="anthropic")
    with store.conversion(talk) as job:
        job.call("convert").succeed("draft")
        second = job.call("again")
        second.succeed("draft 2")
    store.add_bubble(first, HOSTILE)
    store.add_bubble(after_stop, {"text": "x", "chart": [1.5, None, 2**60]})
    effect = store.effects.propose(after_stop, "mail", {"to": HOSTILE}, reversible=True, compensation={"undo": 1})
    store.effects.approve(effect, by="somebody")
    store.effects.claim(effect, "worker")
    store.effects.finish(effect, "done", {"id": 1})
    store.effects.propose(first, "pay")
    store.state.write(first, "name", "Ann", outside="crm")
    store.state.write(after_stop, "name", {"first": "Bob"})
    store.labels.add(first, "best")
    store.labels.add(abandoned, "wrong way", branch=True)
    store.feedback.give(after_stop, rating="up", by="ann")
    store.summaries.attach(abandoned, HOSTILE)
    store.tool_cache.rule("search", expires=timedelta(days=1))
    store.tool_cache.put("search", {"q": 1}, HEAVY, scope="me")
    store.tool_cache.get("search", {"q": 1}, scope="me")
    store.tool_cache.get("search", {"q": 2}, scope="me")
    cleared = store.create_conversation(title="cleared")
    ask(store, cleared, "gone", "gone")
    store.clear(cleared)
    ask(store, cleared, "after", "the clear")
    erased = store.create_conversation()
    secret = ask(store, erased, "secret", "secret")
    ask(store, store.fork(secret), "stands on it", "yes")
    store.delete_conversation(erased, on_shared="erase")
    for _ in store.import_file(EXPORT):
        pass
    dead = store.create_conversation()
    lease = store.turn(dead, lease_seconds=0.01)
    pending = lease.call("dies")
    time.sleep(0.05)
    ask(store, dead, "after the lost one", "yes")
    with pytest.raises(errors.TurnLost):
        pending.succeed("late answer")
    running = store.turn(store.create_conversation(title="running"), owner="me", lease_seconds=3600)
    open_call = running.call("still running")
    open_call.save_partial("so far")
    return Rich(
        talk, fork, first, abandoned, hidden, compaction, second.id, open_call.id, cleared, effect,
    )  # fmt: skip
