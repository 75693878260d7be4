"""One call of a tool, cached, read and evicted by several at once: every reading is counted, one result is kept."""

from __future__ import annotations

from typing import Any

import pytest
from racing import RACERS, Race, value

from graphstore import GraphStore


def read(store: GraphStore, racer: int, start: Any, rounds: int) -> tuple[int, int]:
    """Read each call twice with a store between; what it saw of hits and misses."""
    seen = []
    for n in range(rounds):
        start.wait()
        seen.append(store.tool_cache.get("search", {"n": n}) is not None)
        store.tool_cache.put("search", {"n": n}, "x" * racer)
        seen.append(store.tool_cache.get("search", {"n": n}) is not None)
    return seen.count(True), seen.count(False)


@pytest.mark.rule("T1")
def test_no_reading_is_lost_from_the_counts_and_one_result_is_kept(race: Race, rounds: int) -> None:
    told = race.run(read, rounds)
    (tool,) = race.store.tool_cache.stats()
    assert tool.hits == sum(hits for hits, _ in told)
    assert tool.misses == sum(misses for _, misses in told)
    assert tool.hits + tool.misses == 2 * RACERS * rounds
    assert tool.results == rounds


def read_and_evict(store: GraphStore, racer: int, start: Any, rounds: int) -> int:
    cache, hits = store.tool_cache, 0
    for n in range(rounds):
        start.wait()
        match racer:
            case 0:
                cache.evict("search", {"n": n})
            case 1:
                cache.evict("search")
            case 2:
                cache.put("search", {"n": n}, "again")
            case _:
                hits += sum(cache.get("search", {"n": n}) is not None for _ in range(5))
    return hits


@pytest.mark.rule("T1")
def test_eviction_beside_readings_and_writings_breaks_nothing_and_keeps_the_counts(race: Race, rounds: int) -> None:
    cache = race.store.tool_cache
    for n in range(rounds):
        cache.put("search", {"n": n}, "found")
    told = race.run(read_and_evict, rounds)
    (tool,) = cache.stats()
    assert tool.hits == sum(told)
    assert tool.hits + tool.misses == 5 * rounds


def put(store: GraphStore, racer: int, start: Any, names: list[str]) -> None:
    for name in names:
        start.wait()
        if racer == 0:
            store.tool_cache.rule(name, never=True)
        else:
            store.tool_cache.put(name, {"racer": racer}, "found")


@pytest.mark.rule("T1")
def test_nothing_is_left_of_a_tool_once_it_is_never_cached(race: Race, rounds: int) -> None:
    race.run(put, [f"tool {n}" for n in range(rounds)])
    assert value(race.store, "MATCH (r:ToolResult {workspace: $workspace}) RETURN count(r)") == 0
