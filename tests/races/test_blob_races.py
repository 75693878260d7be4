"""Heavy strings are written while the last node that used them is removed (rule S7)."""

from __future__ import annotations

from typing import Any

import pytest
from racing import Race, ask, value

from graphstore import GraphStore
from graphstore.errors import NotFound, Refused

PAYLOADS = [f"payload {n}: " + "lorem ipsum " * 500 for n in range(4)]


def write_or_remove(store: GraphStore, racer: int, start: Any, rounds: list[tuple[str, str, str]]) -> list[str]:
    """Two write nodes with the same heavy strings, two remove what used them: a conversation, and cached results."""
    written = []
    for first, mine, doomed in rounds:
        start.wait()
        try:
            match racer:
                case 0:
                    written.append(ask(store, first, PAYLOADS[0], PAYLOADS[1]).id)
                case 1:
                    written.append(ask(store, mine, PAYLOADS[1], PAYLOADS[0] if len(written) % 2 else PAYLOADS[2]).id)
                case 2:
                    store.delete_conversation(doomed)
                case _:
                    store.tool_cache.put("search", {"for": doomed}, [PAYLOADS[3], PAYLOADS[0]])
                    store.tool_cache.evict("search")
        except (NotFound, Refused) as refused:
            pytest.fail(f"nobody else writes to these: {refused}")
    return written


@pytest.mark.rounds(600)
@pytest.mark.rule("S7")
def test_no_payload_is_collected_from_under_a_write_and_none_is_left_over(race: Race, rounds: int) -> None:
    store = race.store
    planned = []
    for _ in range(rounds):
        doomed = store.create_conversation()
        ask(store, doomed, PAYLOADS[0], PAYLOADS[1])
        planned.append((store.create_conversation(), store.create_conversation(), doomed))
    rows = race.run(write_or_remove, planned)
    reader = store.in_workspace(store.workspace)
    for node_id in [*rows[0], *rows[1]]:
        node = reader.node(node_id)
        assert {node.sent[0]["content"], node.returned[0]["content"]} <= set(PAYLOADS)
    assert len(rows[0]) == len(rows[1]) == rounds
    for first, mine, _ in planned:
        store.delete_conversation(first)
        store.delete_conversation(mine)
    left = "MATCH (b:Blob {workspace: $workspace}) WHERE b.setting IS NULL RETURN count(b)"
    assert value(store, left) == 0
