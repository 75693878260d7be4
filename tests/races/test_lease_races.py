"""One conversation, several turns that want it: one holds it, and when its process dies nothing paid for is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from racing import Race, ask, cursors

from graphstore import GraphStore, Reason, Status
from graphstore.errors import CursorMoved, TurnInProgress, TurnLost
from graphstore.local import Endpoint

SHORT = 0.2  # seconds of a lease that is meant to run out


def take(store: GraphStore, racer: int, start: Any, conversations: list[str]) -> list[Any]:
    outcomes = []
    for conversation_id in conversations:
        turn = store.turn(conversation_id, owner=f"racer {racer}")
        start.wait()
        try:
            turn.call(f"Question {racer}")
            outcomes.append(turn.id)
        except TurnInProgress as refused:
            outcomes.append((refused.turn_id, refused.owner, refused.expires_at))
    return outcomes


@pytest.mark.rounds(250)
@pytest.mark.rule("C5", "C6")
def test_of_turns_that_begin_at_once_exactly_one_holds_the_conversation(race: Race, rounds: int) -> None:
    store = race.store
    conversations = [store.create_conversation() for _ in range(rounds)]
    for conversation_id in conversations[::2]:  # the others are empty: a cursor that names no node is one too
        ask(store, conversation_id, "Before", "Before")
    rows = race.run(take, conversations)
    for number, outcomes in enumerate(zip(*rows, strict=True)):
        (holder,) = [racer for racer, outcome in enumerate(outcomes) if isinstance(outcome, str)]
        running = store.conversation(conversations[number]).turn
        assert running is not None
        assert (running.turn_id, running.owner) == (outcomes[holder], f"racer {holder}")
        for outcome in outcomes:
            if not isinstance(outcome, str):
                assert outcome == (running.turn_id, running.owner, running.expires_at)
                assert outcome[2] > datetime.now(UTC)
        begun = [node for node in store.tree(conversations[number]) if node.status is Status.PENDING]
        assert [node.turn_id for node in begun] == [outcomes[holder]], "a refused turn wrote nothing"


def leave_dead(store: GraphStore, conversation_id: str) -> tuple[str, str]:
    """A turn whose tool results are sent and whose lease has run out; gives the turn's and its pending call's id."""
    turn = store.turn(conversation_id, owner="the dead", lease_seconds=SHORT)
    turn.call("What was our revenue?").succeed(
        [{"type": "tool_call", "call_id": "c1", "name": "revenue", "arguments": "{}"}]
    )
    pending = turn.call([{"type": "tool_result", "call_id": "c1", "output": "4.2 million"}])
    return turn.id, pending.id


def expired(store: GraphStore, conversation_id: str) -> None:
    """Wait until the running turn's lease has run out by the server's clock."""
    while store.conversation(conversation_id).turn is not None:
        time.sleep(SHORT / 4)


@pytest.mark.rule("C6", "C4", "F1", "F3")
def test_many_takers_settle_a_dead_turn_once_and_one_gets_the_conversation(race: Race, rounds: int) -> None:
    store = race.store
    conversations = [store.create_conversation() for _ in range(rounds)]
    dead = []
    for conversation_id in conversations:
        ask(store, conversation_id, "Before", "Before")
        dead.append(leave_dead(store, conversation_id))
    for conversation_id in conversations:
        expired(store, conversation_id)

    rows = race.run(take, conversations)

    for (_, lost), conversation_id, outcomes in zip(dead, conversations, zip(*rows, strict=True), strict=True):
        assert sum(isinstance(outcome, str) for outcome in outcomes) == 1
        moves = store.moves(conversation_id)
        assert [(move.reason, move.to_id, move.accepted) for move in moves[1:]] == [(Reason.FAILURE, lost, True)]
        node = store.node(lost)
        assert (node.status, node.failure and node.failure.kind) == (Status.FAILED, "lost")
        assert cursors(store, conversation_id) == [lost]
        (next_call,) = [one for one in store.tree(conversation_id) if one.status is Status.PENDING]
        assert next_call.parent_id == lost, "the new turn stands on what the dead one paid for"


def switch(store: GraphStore, racer: int, start: Any, conversations: list[str], targets: list[str]) -> list[str]:
    outcomes = []
    for conversation_id, target in zip(conversations, targets, strict=True):
        start.wait()
        try:
            outcomes.append(store.switch(conversation_id, target))
        except CursorMoved as refused:  # somebody was there between our look at the cursor and our move
            outcomes.append(str(refused.cursor))
    return outcomes


@pytest.mark.rule("C6", "C4")
def test_switches_settle_a_dead_turn_once_too(race: Race, rounds: int) -> None:
    store = race.store
    conversations, targets = [], []
    for _ in range(rounds):
        conversation_id = store.create_conversation()
        first = ask(store, conversation_id, "Before", "Before").id
        edit = store.edit(conversation_id, first, "Otherwise")
        edit.current.succeed("Otherwise", end_turn=True)
        leave_dead(store, conversation_id)
        conversations.append(conversation_id)
        targets.append(first)
    for conversation_id in conversations:
        expired(store, conversation_id)
    rows = race.run(switch, conversations, targets)
    for conversation_id, target, outcomes in zip(conversations, targets, zip(*rows, strict=True), strict=True):
        assert target in outcomes
        reasons = [move.reason for move in store.moves(conversation_id)]
        assert reasons.count(Reason.FAILURE) == 1
        assert cursors(store, conversation_id) == [target]


DYING = """
import sys, time
from graphstore import GraphStore
uri, user, workspace, conversation_id, lease = sys.argv[1:]
store = GraphStore.connect(uri, auth=(user, sys.stdin.readline().strip()), workspace=workspace)
turn = store.turn(conversation_id, owner="a process that dies", lease_seconds=float(lease))
turn.call("What was our revenue?").succeed(
    [{"type": "tool_call", "call_id": "c1", "name": "revenue", "arguments": "{}"}])
call = turn.call([{"type": "tool_result", "call_id": "c1", "output": "4.2 million"}])
print(call.id, flush=True)
time.sleep(600)
"""


@pytest.mark.rule("C6", "F1", "F3", "A3", "S2")
def test_results_paid_for_by_a_killed_process_are_in_the_next_context(store: GraphStore, server: Endpoint) -> None:
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Before", "Before")
    with subprocess.Popen(
        [sys.executable, "-c", DYING, server.uri, server.username, store.workspace, conversation_id, "1"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(server.password + "\n")
        process.stdin.flush()
        pending = process.stdout.readline().strip()
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert store.node(pending).status is Status.PENDING, "it was written before the call was made"

    expired(store, conversation_id)
    with store.turn(conversation_id, owner="the next") as turn:
        call = turn.call("And without the subsidiaries?")
        kinds = [item.get("type", "message") for item in call.context.items]
        assert kinds == ["message", "message", "message", "tool_call", "tool_result", "message"]
        assert call.context.items[4]["output"] == "4.2 million"
        assert not call.context.warnings
        call.succeed("3.1 million")
    assert [node.id for node in store.path(conversation_id)][-2:] == [pending, call.id]
    assert store.node(pending).failure is not None


@pytest.mark.rule("C6", "S2")
def test_a_late_completion_is_stored_but_never_moves_the_cursor(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Before", "Before")
    late = store.turn(conversation_id, owner="slow", lease_seconds=SHORT)
    call = late.call("A slow question")
    expired(store, conversation_id)
    with store.turn(conversation_id) as turn:
        taken = turn.call("A quick question")
        moved = len(store.moves(conversation_id))
        with pytest.raises(TurnLost):
            call.succeed("A slow answer", end_turn=True)
        node = store.node(call.id)
        assert (node.status, node.failure) == (Status.SUCCEEDED, None)
        assert node.returned[0]["content"] == "A slow answer"
        assert len(store.moves(conversation_id)) == moved
        running = store.conversation(conversation_id).turn
        assert running is not None
        assert running.turn_id == turn.id, "the new holder's lease is untouched"
        taken.succeed("A quick answer")
    assert cursors(store, conversation_id) == [taken.id]
    late.end()
    assert cursors(store, conversation_id) == [taken.id], "a lost turn has nothing left to end"


@pytest.mark.rule("C6")
def test_a_lost_turn_learns_it_at_its_next_write_whatever_that_is(store: GraphStore) -> None:
    for write in (
        lambda turn: turn.call("On"),
        lambda turn: turn.end(),
        lambda turn: turn.compact("In short."),
    ):
        conversation_id = store.create_conversation()
        turn = store.turn(conversation_id, lease_seconds=SHORT)
        turn.call("Q").succeed("A")
        expired(store, conversation_id)
        after = ask(store, conversation_id, "Next", "Next").id
        with pytest.raises(TurnLost):
            write(turn)
        assert cursors(store, conversation_id) == [after]


@pytest.mark.rule("C6")
def test_calls_renew_the_lease(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    turn = store.turn(conversation_id, lease_seconds=60)
    until = []
    for number in range(3):
        call = turn.call(f"{number}")
        until.append(_until(store, conversation_id))
        call.succeed("on")
        until.append(_until(store, conversation_id))
    assert until == sorted(set(until)), "each write of the turn puts its end further away"


def _until(store: GraphStore, conversation_id: str) -> datetime:
    running = store.conversation(conversation_id).turn
    assert running is not None
    return running.expires_at


@pytest.mark.rule("C6")
def test_a_lease_that_ran_out_but_was_not_taken_can_go_on(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    with store.turn(conversation_id, lease_seconds=SHORT) as turn:
        turn.call("Q").succeed("A")
        expired(store, conversation_id)
        last = turn.call("And?")
        last.succeed("So.")
    assert cursors(store, conversation_id) == [last.id]


@pytest.mark.rule("C7", "C2", "C3")
def test_a_turn_without_a_lease_runs_beside_one_with_it(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Before", "Before")
    with store.turn(conversation_id) as holder:
        held = holder.call("Held")
        free = store.turn(conversation_id, exclusive=False)
        beside = free.call("Free")
        held.succeed("Held")
        beside.succeed("Free")
    with pytest.raises(CursorMoved) as refused:
        free.end()
    assert (refused.value.kept, refused.value.cursor) == (beside.id, held.id)
