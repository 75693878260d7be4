"""A conversation is deleted, or a branch hidden, while others append to it, fork it and read it."""

from __future__ import annotations

from typing import Any

import pytest
from racing import Race, ask, value

from graphstore import GraphStore
from graphstore.errors import NotFound, Refused
from graphstore.store import removal

LENGTH = 6

WHOLE = """
MATCH (n:Node {workspace: $workspace})
WHERE NOT EXISTS { (n)-[:PARENT|COMPACTS*0..]->(root:Node) WHERE root.is_root }
   OR NOT EXISTS { MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id}) }
RETURN collect(n.id)
"""
LOST_CURSORS = """
MATCH (c:Conversation {workspace: $workspace})
WHERE NOT EXISTS { (c)-[:CURSOR]->(:Node) }
RETURN collect(c.id)
"""
CURSORS_ON_HIDDEN = """
MATCH (c:Conversation {workspace: $workspace})-[:CURSOR]->(n:Node)
WHERE n.deleted_at IS NOT NULL
RETURN collect(c.id)
"""


def delete_fork_append_read(
    store: GraphStore, racer: int, start: Any, conversations: list[tuple[str, list[str]]]
) -> list[Any]:
    """One deletes, one forks, one goes on, one reads: all at once, conversation by conversation."""
    removal.BATCH = 1  # as many chances to come in between as there are nodes (the test puts it back)
    outcomes: list[Any] = []
    for conversation_id, nodes in conversations:
        start.wait()
        try:
            match racer:
                case 0:
                    outcomes.append(store.delete_conversation(conversation_id, force=True).nodes)
                case 1:
                    outcomes.append(store.fork(nodes[LENGTH // 2]))
                case 2:
                    outcomes.append(ask(store, conversation_id, "one more", "answer").id)
                case _:
                    seen = [len(store.path(conversation_id)) for _ in range(5)]
                    outcomes.append(set(seen) <= {LENGTH, LENGTH + 1})
        except (NotFound, Refused) as refused:
            outcomes.append(refused.__class__.__name__)
    return outcomes


@pytest.mark.rounds(600)
@pytest.mark.rule("X2", "X4", "A5")
def test_no_orphan_no_lost_cursor_and_no_path_without_its_top(
    race: Race, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = race.store
    monkeypatch.setattr(removal, "BATCH", 1)
    conversations = []
    for _ in range(rounds):
        conversation_id = store.create_conversation()
        nodes = [ask(store, conversation_id, f"Q{n}", f"A{n}").id for n in range(LENGTH)]
        conversations.append((conversation_id, nodes))

    deleted, forked, appended, read = race.run(delete_fork_append_read, conversations)

    assert all(isinstance(count, int) for count in deleted), deleted
    assert False not in read
    assert value(store, WHOLE) == []
    assert value(store, LOST_CURSORS) == []
    left = {summary.id for summary in store.conversations()}
    assert left == {fork for fork in forked if fork not in {"NodeNotFound"}}
    for fork in left:
        assert [node.returned[0]["content"] for node in store.path(fork)] == [f"A{n}" for n in range(LENGTH // 2 + 1)]
    assert len(appended) == rounds


def hide_switch_fork_append(
    store: GraphStore, racer: int, start: Any, conversations: list[tuple[str, str, str]]
) -> list[Any]:
    """One hides a branch, the others come to it by a switch, a fork, and a turn that is already there."""
    outcomes: list[Any] = []
    for conversation_id, branch, _ in conversations:
        start.wait()
        try:
            match racer:
                case 0:
                    outcomes.append(store.tombstone(branch))
                case 1:
                    outcomes.append(store.switch(conversation_id, branch))
                case 2:
                    outcomes.append(store.fork(branch))
                case _:
                    turn = store.turn(conversation_id, exclusive=False)
                    call = turn.call("late")
                    call.succeed("answer", end_turn=True)
                    outcomes.append(call.id)
        except (NotFound, Refused) as refused:
            outcomes.append(refused.__class__.__name__)
    return outcomes


@pytest.mark.rule("S6", "C2")
def test_a_branch_is_hidden_or_somebodys_cursor_is_on_it_but_never_both(race: Race, rounds: int) -> None:
    store = race.store
    conversations = []
    for _ in range(rounds):
        conversation_id = store.create_conversation()
        branch = ask(store, conversation_id, "Q", "A").id
        with store.regenerate(conversation_id) as turn:
            turn.current.succeed("B")
        conversations.append((conversation_id, branch, turn.current.id))

    hidden, switched, forked, _ = race.run(hide_switch_fork_append, conversations)

    assert value(store, CURSORS_ON_HIDDEN) == []
    for outcome, switch, fork in zip(hidden, switched, forked, strict=True):
        assert outcome == "BranchInUse" or (switch in {"NodeNotFound", "CursorMoved"} and fork == "NodeNotFound")
