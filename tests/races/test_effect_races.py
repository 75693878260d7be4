"""Workers that race for an effect, while its branch is switched away, handed over or deleted."""

from __future__ import annotations

from typing import Any

import pytest
from racing import Race, ask, value

from graphstore import GraphStore
from graphstore.errors import EffectRefused, NotFound, Refused


def claim(store: GraphStore, racer: int, start: Any, effect_ids: list[str]) -> list[bool]:
    won = []
    for effect_id in effect_ids:
        start.wait()
        try:
            store.effects.claim(effect_id, f"worker {racer}")
            won.append(True)
        except EffectRefused as refused:
            assert refused.reason == "claimed"  # noqa: PT017 - raised on to the test by the race
            won.append(False)
    return won


@pytest.mark.rounds(250)
@pytest.mark.rule("T2")
def test_of_all_workers_exactly_one_gets_the_effect(race: Race, rounds: int) -> None:
    store = race.store
    conversation_id = store.create_conversation()
    node = ask(store, conversation_id, "Send it", "I will").id
    effect_ids = [store.effects.propose(node, "send_mail") for _ in range(rounds)]
    for effect_id in effect_ids:
        store.effects.approve(effect_id)
    rows = race.run(claim, effect_ids)
    assert [sum(won) for won in zip(*rows, strict=True)] == [1] * rounds
    for effect_id, won in zip(effect_ids, zip(*rows, strict=True), strict=True):
        assert store.effects.get(effect_id).worker == f"worker {won.index(True)}"


def claim_or_switch(
    store: GraphStore, racer: int, start: Any, branches: list[tuple[str, str, str]]
) -> list[bool | None]:
    """One switches to the other branch; the rest claim what the branch that is left had proposed."""
    outcomes: list[bool | None] = []
    for conversation_id, target, effect_id in branches:
        start.wait()
        try:
            if racer == 0:
                store.switch(conversation_id, target)
                outcomes.append(None)
            else:
                store.effects.claim(effect_id, f"worker {racer}")
                outcomes.append(True)
        except EffectRefused:
            outcomes.append(False)
    return outcomes


@pytest.mark.rule("T2")
def test_a_claim_comes_whole_before_a_switch_or_not_at_all(race: Race, rounds: int) -> None:
    store = race.store
    branches = []
    for _ in range(rounds):
        conversation_id = store.create_conversation()
        left = ask(store, conversation_id, "Send it", "I will").id
        with store.regenerate(conversation_id, left) as turn:
            turn.current.succeed("I will not")
        store.switch(conversation_id, left)
        effect_id = store.effects.propose(left, "send_mail")
        store.effects.approve(effect_id)
        branches.append((conversation_id, turn.current.id, effect_id))
    rows = race.run(claim_or_switch, branches)
    for (conversation_id, target, effect_id), outcomes in zip(branches, zip(*rows, strict=True), strict=True):
        assert store.conversation(conversation_id).cursor == target
        effect = store.effects.get(effect_id)
        assert outcomes.count(True) == (effect.claim_id is not None) <= 1
        switched = next(move.at for move in reversed(store.moves(conversation_id)) if move.to_id == target)
        if effect.claimed_at is not None:
            assert effect.claimed_at < switched, "the claim was given while the node was on the path"


def propose_claim_delete(
    store: GraphStore, racer: int, start: Any, conversations: list[tuple[str, str, str]]
) -> list[str]:
    outcomes = []
    for conversation_id, node, effect_id in conversations:
        start.wait()
        try:
            match racer:
                case 0:
                    store.delete_conversation(conversation_id)
                case 1:
                    store.fork(node)
                case 2:
                    store.effects.propose(node, "another")
                case _:
                    store.effects.claim(effect_id, "w")
            outcomes.append("done")
        except (NotFound, Refused) as refused:
            outcomes.append(type(refused).__name__)
    return outcomes


@pytest.mark.rule("T2", "X2", "X4")
def test_a_deletion_leaves_no_effect_without_its_node(race: Race, rounds: int) -> None:
    store = race.store
    conversations = []
    for _ in range(rounds):
        conversation_id = store.create_conversation()
        node = ask(store, conversation_id, "Send it", "I will").id
        effect_id = store.effects.propose(node, "send_mail")
        store.effects.approve(effect_id)
        conversations.append((conversation_id, node, effect_id))
    rows = race.run(propose_claim_delete, conversations)
    assert rows[0] == ["done"] * rounds
    orphans = "MATCH (e:Effect {workspace: $workspace}) WHERE NOT EXISTS { (e)<-[:PROPOSED]-(:Node) } RETURN count(e)"
    assert value(store, orphans) == 0
    for conversation_id, node, _ in conversations:
        owner = "RETURN head(COLLECT { MATCH (n:Node {workspace: $workspace, id: $id}) RETURN n.conversation_id })"
        assert value(store, owner, id=node) != conversation_id
