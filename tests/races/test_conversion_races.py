"""Side jobs run while turns move the cursor and while the conversation is cleared."""

from __future__ import annotations

from typing import Any

import pytest
from racing import Race, ask, value

from graphstore import GraphStore
from graphstore.errors import ConversationGone, InvalidInput, Refused


def convert_or_ask(store: GraphStore, racer: int, start: Any, conversations: list[str]) -> list[list[str]]:
    """Two run side jobs of three attempts, the others turns (one may be told to wait), conversation by conversation."""
    made = []
    for conversation_id in conversations:
        start.wait()
        if racer < 2:
            with store.conversion(conversation_id) as job:
                for attempt in range(3):
                    job.call(f"attempt {attempt}").succeed("a draft")
            made.append([call.id for call in job.calls])
        else:
            try:
                made.append([ask(store, conversation_id, "Question", "Answer").id])
            except Refused:
                made.append([])
    return made


@pytest.mark.rule("V1", "V2")
def test_side_jobs_and_turns_never_get_in_each_others_way(race: Race, rounds: int) -> None:
    store = race.store
    conversations = [store.create_conversation() for _ in range(rounds)]
    roots = [ask(store, conversation_id, "Before", "Before").id for conversation_id in conversations]
    rows = race.run(convert_or_ask, conversations)
    for conversation_id, root, jobs in zip(conversations, roots, zip(*rows, strict=True), strict=True):
        turns = {root, *jobs[2], *jobs[3]}
        path = store.path(conversation_id)
        assert {node.id for node in path} <= turns
        assert store.unseen_branches(conversation_id) == [], "an exclusive turn is refused only by a turn"
        assert {m.count for m in store.markers(conversation_id)} == {1}
        for line in jobs[:2]:
            nodes = [store.node(node_id) for node_id in line]
            assert [node.parent_id for node in nodes[1:]] == line[:-1]
            assert nodes[0].parent_id in turns


def convert_or_clear(store: GraphStore, racer: int, start: Any, conversations: list[str]) -> list[str]:
    outcomes = []
    for conversation_id in conversations:
        start.wait()
        try:
            if racer == 0:
                store.clear(conversation_id)
            else:
                with store.conversion(conversation_id) as job:
                    job.run("Go on", lambda _: "a draft", lambda items: ["no"] if len(job.calls) < 3 else [])
            outcomes.append("done")
        except (ConversationGone, InvalidInput) as told:
            outcomes.append(type(told).__name__)
    return outcomes


@pytest.mark.rule("V1", "X3", "X4")
def test_a_side_job_that_a_clear_overtakes_leaves_no_orphan(race: Race, rounds: int) -> None:
    store = race.store
    conversations = [store.create_conversation() for _ in range(rounds)]
    for conversation_id in conversations:
        ask(store, conversation_id, "Before", "Before")
    race.run(convert_or_clear, conversations)
    for conversation_id in conversations:
        store.clear(conversation_id)
    assert value(store, "MATCH (n:Node {workspace: $workspace}) RETURN count(n)") == 0
