"""Tool results are found again by the call itself, whatever message or branch made it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graphstore.errors import InvalidInput


@pytest.fixture
def cache(store):
    return store.tool_cache


def outputs(*found):
    return [None if one is None else one.output for one in found]


@pytest.mark.rule("T1")
def test_the_same_call_is_found_whatever_its_key_order_and_spacing(cache):
    assert cache.get("search", {"q": "Ä", "n": 1.50}) is None
    assert cache.put("search", {"q": "Ä", "n": 1.50}, [{"type": "text", "text": "found"}])
    found = cache.get("search", '{ "n":1.5,  "q":"\\u00c4" }')
    assert found.output == [{"type": "text", "text": "found"}]
    assert found.hits == 1
    others = (("search", {"q": "Ä", "n": 2}), ("find", {"q": "Ä", "n": 1.5}), ("search", {"q": "Ä", "n": "1.5"}))
    assert outputs(*(cache.get(*other) for other in others)) == [None, None, None]


@pytest.mark.rule("T1")
def test_a_result_is_kept_once_and_a_newer_one_takes_its_place(cache, store, new_process_store):
    for output in ("old", "new", "new"):
        cache.put("search", {"q": 1}, output)
    assert new_process_store().tool_cache.get("search", {"q": 1}).output == "new"
    (tool,) = cache.stats()
    assert (tool.results, tool.bytes) == (1, len('"new"'))


@pytest.mark.rule("T1")
@pytest.mark.parametrize("output", ["", None, 10**30, {"b": 1, "a": [True]}, "half \ud800 and \x00"])
def test_an_output_comes_back_as_it_was(cache, output):
    cache.put("t", {}, output)
    assert cache.get("t", {}).output == output


@pytest.mark.rule("T1")
def test_a_scope_keeps_results_apart_and_can_be_required(cache):
    cache.put("mails", {}, "for all")
    cache.put("mails", {}, "ann's", scope="ann")
    seen = outputs(*(cache.get("mails", {}, scope=scope) for scope in ("", "ann", "bob")))
    assert seen == ["for all", "ann's", None]
    cache.rule("mails", scope_required=True)
    for refused in (lambda: cache.get("mails", {}), lambda: cache.put("mails", {}, "x")):
        with pytest.raises(InvalidInput, match="for whom"):
            refused()
    assert cache.get("mails", {}, scope="ann").output == "ann's"


@pytest.mark.rule("T1")
def test_a_result_expires_by_its_own_time_else_by_its_tools(cache, cypher):
    cache.rule("price", expires=timedelta(hours=1))
    cache.put("price", {"of": "gold"}, 1)
    cache.put("price", {"of": "lead"}, 2, expires=timedelta(days=1))
    cache.put("other", {}, 3)
    gold, lead, other = cache.get("price", {"of": "gold"}), cache.get("price", {"of": "lead"}), cache.get("other", {})
    assert gold.expires_at - gold.created_at == timedelta(hours=1)
    assert lead.expires_at - lead.created_at == timedelta(days=1)
    assert other.expires_at is None
    cypher(
        "MATCH (r:ToolResult {workspace: $workspace}) SET r.expires_at = r.expires_at - duration({hours: 2}) "
        "RETURN count(r) AS n"
    )
    assert outputs(cache.get("price", {"of": "gold"}), cache.get("price", {"of": "lead"})) == [None, 2]
    cache.put("price", {"of": "gold"}, 4)
    assert cache.get("price", {"of": "gold"}).output == 4
    assert [(tool.name, tool.expires) for tool in cache.stats()] == [("other", None), ("price", timedelta(hours=1))]
    with pytest.raises(InvalidInput, match="positive"):
        cache.put("price", {}, 1, expires=timedelta(0))


@pytest.mark.rule("T1")
def test_a_tool_that_is_never_cached_keeps_nothing_and_is_not_counted(cache):
    cache.put("clock", {}, "12:00")
    cache.rule("clock", never=True)
    assert not cache.put("clock", {}, "12:01")
    assert cache.get("clock", {}) is None
    (clock,) = cache.stats()
    assert (clock.never, clock.results, clock.hits, clock.misses) == (True, 0, 0, 0)
    cache.rule("clock")
    assert cache.put("clock", {}, "12:02")


@pytest.mark.rule("T1")
def test_hits_and_misses_are_counted_and_outlive_the_results(cache):
    cache.get("search", {"q": 1})
    cache.put("search", {"q": 1}, "found")
    for _ in range(3):
        cache.get("search", {"q": 1})
    cache.get("search", {"q": 2})
    for results, evicted in ((1, 1), (0, 0)):
        (tool,) = cache.stats()
        assert (tool.hits, tool.misses, tool.results) == (3, 2, results)
        assert cache.evict("search") == evicted


@pytest.mark.rule("T1")
def test_results_are_evicted_by_call_tool_scope_and_age(cache, cypher, monkeypatch):
    def fill():
        for name in ("a", "b"):
            for scope in ("", "ann"):
                for n in range(3):
                    cache.put(name, {"n": n}, "x", scope=scope, expires=timedelta(hours=1) if n == 0 else None)

    monkeypatch.setattr("graphstore.store.tool_cache.BATCH", 2)
    for criteria, evicted in (
        ({"name": "a", "arguments": {"n": 1}}, 1),
        ({"name": "a", "arguments": {"n": 1}, "scope": "ann"}, 1),
        ({"name": "a"}, 6),
        ({"scope": "ann"}, 6),
        ({"name": "c"}, 0),
        ({}, 12),
    ):
        fill()
        assert cache.evict(**criteria) == evicted, criteria
        cache.evict()
    fill()
    assert cache.evict(expired=True) == 0
    cypher(
        "MATCH (r:ToolResult {workspace: $workspace}) SET r.expires_at = r.expires_at - duration({hours: 2}) "
        "RETURN count(r) AS n"
    )
    assert cache.evict("a", expired=True) == 2
    assert cache.evict(expired=True) == 2
    assert cache.evict() == 8
    with pytest.raises(InvalidInput, match="tool as well"):
        cache.evict(arguments={})


@pytest.mark.rule("T1", "S8")
def test_another_workspace_finds_and_counts_nothing(cache, other_store):
    cache.put("search", {}, "found")
    assert other_store.tool_cache.get("search", {}) is None
    assert other_store.tool_cache.evict() == 0
    assert cache.get("search", {}).output == "found"
    (tool,) = cache.stats()
    assert tool.misses == 0


@pytest.mark.rule("T1")
@pytest.mark.parametrize("arguments", ["{not json", {"a": {1}}, {"a": float("nan")}])
def test_arguments_that_are_no_json_are_refused(cache, arguments):
    with pytest.raises(InvalidInput):
        cache.get("search", arguments)
