"""One cursor, several who move it at once: exactly one succeeds each time, and nothing of the others is lost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from racing import CROWD, RACERS, Race, ask, cursors

from graphstore import GraphStore, Reason
from graphstore.errors import CursorMoved


def end_turns(store: GraphStore, racer: int, start: Any, conversation_id: str, rounds: int, at_once: bool) -> list[Any]:
    """In each round: a turn from where the cursor is, ended at the same instant as everybody else's."""
    outcomes = []
    for round in range(rounds):
        start.wait()
        turn = store.turn(conversation_id, exclusive=False)
        call = turn.call(f"round {round}, racer {racer}")
        if not at_once:
            call.succeed(f"answer {racer}")
        start.wait()
        try:
            if at_once:
                call.succeed(f"answer {racer}", end_turn=True)
            else:
                turn.end()
        except CursorMoved as refused:
            outcomes.append((call.id, refused.kept, refused.expected, refused.cursor))
        else:
            outcomes.append((call.id, None, None, None))
    return outcomes


@pytest.mark.rounds(250)
@pytest.mark.racers(CROWD)
@pytest.mark.rule("C2", "C3", "C4", "C7")
@pytest.mark.parametrize("at_once", [False, True], ids=["end", "end with the completion"])
def test_of_turns_that_end_at_once_exactly_one_moves_the_cursor(race: Race, rounds: int, at_once: bool) -> None:
    store = race.store
    conversation_id = store.create_conversation()
    root = ask(store, conversation_id, "The first question", "The first answer").id

    rows = race.run(end_turns, conversation_id, rounds, at_once)

    moves = store.moves(conversation_id)
    assert [move.seq for move in moves] == list(range(1, 1 + rounds * race.racers + 1)), (
        "moves are numbered without a gap"
    )
    assert {move.reason for move in moves} == {Reason.TURN}
    before, losers = root, []
    for outcomes in zip(*rows, strict=True):
        (winner,) = [node for node, kept, _, _ in outcomes if kept is None]
        for node, kept, expected, cursor in outcomes:
            if kept is not None:
                assert (kept, expected, cursor) == (node, before, winner), "a refusal names the kept node"
                losers.append(node)
        before = winner
    assert cursors(store, conversation_id) == [before], "one CURSOR relationship, at the last round's winner"
    assert [move.to_id for move in moves if move.accepted] == [node.id for node in store.path(conversation_id)]
    assert store.conversation(conversation_id).version == rounds + 1, "refused moves leave the version alone"

    refused = [move for move in moves if not move.accepted]
    assert {move.to_id for move in refused} == set(losers)
    assert len(losers) == rounds * (race.racers - 1)
    assert {branch.node_id for branch in store.unseen_branches(conversation_id)} == set(losers)
    kept = {node.id: node for node in store.tree(conversation_id)}
    assert all(kept[node].returned for node in losers), "what the losers wrote is there in full"


def switch_from(
    store: GraphStore, racer: int, start: Any, conversation_id: str, branches: list[str], rounds: int
) -> list[Any]:
    """In each round: a switch to a branch of one's own, from where the cursor is."""
    outcomes = []
    for _ in range(rounds):
        start.wait()
        expected = store.conversation(conversation_id).cursor
        ours = [branch for branch in branches if branch != expected]
        start.wait()
        try:
            outcomes.append((expected, store.switch(conversation_id, ours[racer], expected=expected), None))
        except CursorMoved as refused:
            outcomes.append((expected, None, refused.cursor))
    return outcomes


@pytest.mark.rule("C2", "C4", "B5")
def test_of_switches_from_the_same_node_exactly_one_succeeds(race: Race, rounds: int) -> None:
    store = race.store
    conversation_id = store.create_conversation()
    branches = []
    for number in range(RACERS + 1):
        turn = store.turn(conversation_id) if not branches else store.edit(conversation_id, branches[0], f"Q{number}")
        call = turn.current if branches else turn.call("Q0")
        call.succeed(f"A{number}", end_turn=True)
        branches.append(call.id)
    moved_before = len(store.moves(conversation_id))

    rows = race.run(switch_from, conversation_id, branches, rounds)

    for outcomes in zip(*rows, strict=True):
        (winner,) = [to for _, to, _ in outcomes if to is not None]
        assert len({expected for expected, _, _ in outcomes}) == 1
        assert {cursor for _, to, cursor in outcomes if to is None} == {winner}, "a refusal says where the cursor is"
    moves = store.moves(conversation_id)[moved_before:]
    assert [move.seq for move in moves] == list(range(moved_before + 1, moved_before + 1 + rounds * RACERS))
    accepted = [move for move in moves if move.accepted]
    assert len(accepted) == rounds
    assert all(later.from_id == earlier.to_id for earlier, later in pairwise(accepted))
    assert cursors(store, conversation_id) == [accepted[-1].to_id]
    assert store.unseen_branches(conversation_id) == [], "a refused switch wrote no nodes, so no branch is unseen"


def switch_or_end(
    store: GraphStore, racer: int, start: Any, conversation_id: str, branches: list[str], rounds: int
) -> list[bool]:
    """The first racer switches to the other branch while the others end a turn that began on this one."""
    won = []
    for round in range(rounds):
        start.wait()
        path = [node.id for node in store.path(conversation_id)]
        (other,) = [branch for branch in branches if branch not in path]
        turn = store.turn(conversation_id, exclusive=False)
        if racer:
            turn.call(f"round {round}, racer {racer}").succeed("done")
        start.wait()
        try:
            if racer:
                turn.end()
            else:
                store.switch(conversation_id, other, expected=path[-1])
            won.append(True)
        except CursorMoved:
            won.append(False)
    return won


@pytest.mark.rule("C2", "C3", "C4")
def test_a_switch_and_the_ends_of_turns_race_for_one_move(race: Race, rounds: int) -> None:
    store = race.store
    conversation_id = store.create_conversation()
    first = ask(store, conversation_id, "A question", "An answer").id
    turn = store.edit(conversation_id, first, "Another question")
    turn.current.succeed("Another answer", end_turn=True)
    moved_before = len(store.moves(conversation_id))

    rows = race.run(switch_or_end, conversation_id, [first, turn.current.id], rounds)

    assert [sum(won) for won in zip(*rows, strict=True)] == [1] * rounds
    moves = store.moves(conversation_id)[moved_before:]
    assert [move.seq for move in moves] == list(range(moved_before + 1, moved_before + 1 + rounds * RACERS))
    assert sum(move.accepted for move in moves) == rounds
    assert len(cursors(store, conversation_id)) == 1
    kept = {move.to_id for move in moves if not move.accepted and move.reason is Reason.TURN}
    unseen = {branch.node_id for branch in store.unseen_branches(conversation_id)}
    assert unseen == kept, "every turn that lost is listed, and nothing else"
