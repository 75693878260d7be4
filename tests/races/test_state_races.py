"""Facts written by several at once, while their conversation is deleted."""

from __future__ import annotations

from typing import Any

import pytest
from racing import Race, ask, value

from graphstore import GraphStore
from graphstore.errors import IdConflict, NotFound, Refused


def write(store: GraphStore, racer: int, start: Any, nodes: list[str], same: bool) -> list[bool]:
    won = []
    for node in nodes:
        start.wait()
        try:
            store.state.write(node, "city", "Graz" if same else racer)
            won.append(True)
        except IdConflict:
            won.append(False)
    return won


@pytest.mark.rule("T4", "S5")
@pytest.mark.parametrize("same", [True, False], ids=["the same value", "different values"])
def test_a_node_gives_a_key_one_value_however_many_write(race: Race, rounds: int, same: bool) -> None:
    store = race.store
    conversation_id = store.create_conversation()
    nodes = [ask(store, conversation_id, "Question", "Answer").id for _ in range(rounds)]
    rows = race.run(write, nodes, same)
    for node, won in zip(nodes, zip(*rows, strict=True), strict=True):
        assert sum(won) == (len(rows) if same else 1)
        assert store.state.read(node_id=node)["city"].value == ("Graz" if same else won.index(True))
    assert value(store, "MATCH (f:Fact {workspace: $workspace}) RETURN count(f)") == rounds


def write_or_delete(store: GraphStore, racer: int, start: Any, conversations: list[tuple[str, str]]) -> None:
    for conversation_id, node in conversations:
        start.wait()
        try:
            if racer == 0:
                store.delete_conversation(conversation_id)
            else:
                store.state.write(node, f"key {racer}", "value")
        except (NotFound, Refused):
            assert racer > 0


@pytest.mark.rule("T4", "X2", "X4")
def test_a_deletion_leaves_no_fact_without_its_node(race: Race, rounds: int) -> None:
    store = race.store
    conversations = []
    for _ in range(rounds):
        conversation_id = store.create_conversation()
        conversations.append((conversation_id, ask(store, conversation_id, "Question", "Answer").id))
    race.run(write_or_delete, conversations)
    for label in ("Fact", "Node", "Conversation"):
        assert value(store, f"MATCH (x:{label} {{workspace: $workspace}}) RETURN count(x)") == 0
