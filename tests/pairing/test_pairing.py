"""The filter of rule A4: what it drops, what it leaves, and the check that needs no items."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.pairing import EMPTY, call_ids, pair, result_ids

Item = dict[str, Any]


def call(call_id: str) -> Item:
    return {"type": "tool_call", "call_id": call_id, "name": "search", "arguments": "{}"}


def result(call_id: str) -> Item:
    return {"type": "tool_result", "call_id": call_id, "output": "found"}


def user(text: str = "hi") -> Item:
    return {"type": "message", "role": "user", "content": text}


def assistant(text: str = "hello") -> Item:
    return {"role": "assistant", "content": text}


def thought() -> Item:
    return {"type": "reasoning", "signature": "s"}


pytestmark = pytest.mark.rule("A4")


class TestCallsAndResults:
    def test_a_normal_path_is_left_alone(self) -> None:
        found = pair([user(), thought(), call("a"), result("a"), assistant()], boundaries=[0, 3])
        assert found.clean
        assert found.kept == (0, 1, 2, 3, 4)

    def test_a_call_without_result_is_dropped_and_named(self) -> None:
        found = pair([user(), call("a"), call("b"), result("b"), user()])
        assert found.dropped_calls == ((1, "a"),)
        assert found.kept == (0, 2, 3, 4)
        assert not found.clean

    def test_a_result_without_call_is_dropped_and_named(self) -> None:
        found = pair([user(), result("a"), assistant()])
        assert found.dropped_results == ((1, "a"),)
        assert found.kept == (0, 2)

    def test_a_result_before_its_call_pairs_with_nothing(self) -> None:
        found = pair([result("a"), call("a")])
        assert found.dropped_results == ((0, "a"),)
        assert found.dropped_calls == ((1, "a"),)

    def test_results_pair_in_any_order_and_across_other_nodes(self) -> None:
        found = pair([call("a"), call("b"), user(), assistant(), result("b"), user(), result("a")])
        assert found.clean

    def test_a_repeated_id_pairs_each_result_with_the_nearest_unanswered_call(self) -> None:
        found = pair([call("x"), user(), call("x"), result("x"), user()])
        assert found.dropped_calls == ((0, "x"),)
        assert pair([call("x"), result("x"), call("x"), result("x")]).clean
        assert pair([call("x"), call("x"), result("x"), result("x")]).clean

    def test_a_second_result_for_one_call_is_dropped(self) -> None:
        assert pair([call("x"), result("x"), result("x")]).dropped_results == ((2, "x"),)

    def test_items_of_unknown_types_stay(self) -> None:
        assert pair([{"type": "raw", "format": "f", "data": 1}, {"type": "web_search_call"}]).clean

    def test_nothing_to_pair_is_clean(self) -> None:
        assert pair([]).clean

    def test_time_grows_linearly(self) -> None:
        items = [call(f"c{n}") for n in range(100_000)] + [result(f"c{n}") for n in range(50_000)]
        started = time.perf_counter()
        assert len(pair(items).dropped_calls) == 50_000
        assert time.perf_counter() - started < 5


class TestReasoning:
    def test_reasoning_before_a_filtered_call_goes_with_it(self) -> None:
        found = pair([user(), thought(), thought(), call("a"), user()], boundaries=[0, 4])
        assert found.dropped_reasoning == (1, 2)
        assert found.kept == (0, 4)

    def test_reasoning_stays_when_the_same_call_also_said_something(self) -> None:
        assert pair([user(), thought(), assistant(), call("a")]).dropped_reasoning == ()
        assert pair([user(), thought(), call("a"), assistant()]).dropped_reasoning == ()

    def test_reasoning_stays_when_another_call_of_it_was_answered(self) -> None:
        found = pair([user(), thought(), call("a"), call("b"), result("b")])
        assert found.dropped_calls == ((2, "a"),)
        assert found.dropped_reasoning == ()

    def test_each_run_of_reasoning_is_judged_by_what_follows_it(self) -> None:
        found = pair([thought(), call("a"), thought(), call("b"), result("b")])
        assert found.dropped_reasoning == (0,)

    def test_reasoning_is_not_kept_by_the_next_node(self) -> None:
        items = [user(), thought(), call("a"), assistant()]
        assert pair(items, boundaries=[0, 3]).dropped_reasoning == (1,)
        assert pair(items, boundaries=[0]).dropped_reasoning == ()

    def test_a_question_after_it_does_not_keep_reasoning(self) -> None:
        assert pair([thought(), call("a"), user()]).dropped_reasoning == (0,)

    def test_reasoning_with_no_call_after_it_stays(self) -> None:
        found = pair([call("a"), user(), thought(), user(), thought()])
        assert found.dropped_calls == ((0, "a"),)
        assert found.dropped_reasoning == ()


ids = st.sampled_from("abc")
an_item = st.one_of(ids.map(call), ids.map(result), st.builds(user), st.builds(assistant), st.builds(thought))
a_path = st.lists(st.lists(an_item, max_size=6), max_size=8)


def joined(path: list[list[Item]]) -> tuple[list[Item], list[int]]:
    items: list[Item] = []
    boundaries = []
    for node in path:
        boundaries.append(len(items))
        items += node
    return items, boundaries


class TestAnyPath:
    @given(a_path)
    def test_what_is_kept_pairs_completely(self, path: list[list[Item]]) -> None:
        items, boundaries = joined(path)
        found = pair(items, boundaries)
        again = pair([items[index] for index in found.kept])
        assert not again.dropped_calls
        assert not again.dropped_results

    @given(a_path)
    def test_every_item_is_kept_or_dropped_once(self, path: list[list[Item]]) -> None:
        items, boundaries = joined(path)
        found = pair(items, boundaries)
        dropped = [index for index, _ in found.dropped_calls + found.dropped_results]
        assert sorted([*found.kept, *dropped, *found.dropped_reasoning]) == list(range(len(items)))
        assert all(items[index]["type"] == "reasoning" for index in found.dropped_reasoning)
        assert all(items[index]["call_id"] == call_id for index, call_id in found.dropped_calls)


class TestStateFromIds:
    def test_a_node_without_calls_and_results_costs_nothing(self) -> None:
        state = EMPTY.after([], ["a"])
        assert state.after([], []) is state
        assert EMPTY.after([], []) is EMPTY

    def test_calls_are_open_until_a_later_node_answers_them(self) -> None:
        asked = EMPTY.after([], ["a", "b", "a"])
        assert asked.open == {"a": 2, "b": 1}
        assert not asked.clean
        assert asked.after(["b", "a"], []).open == {"a": 1}
        assert asked.after(["b", "a", "a"], []).clean

    def test_a_state_goes_on_without_changing_the_one_it_came_from(self) -> None:
        asked = EMPTY.after([], ["a"])
        asked.after(["a"], ["b"])
        assert asked.open == {"a": 1}
        assert EMPTY.open == {}

    def test_a_result_without_call_breaks_a_path_for_good(self) -> None:
        broken = EMPTY.after(["a"], [])
        assert broken.broken
        assert not broken.after([], ["a"]).after(["a"], []).clean

    def test_a_call_answered_inside_its_own_node_is_left_to_the_full_check(self) -> None:
        items = [call("a"), result("a")]
        assert not EMPTY.after(result_ids(items), call_ids(items)).clean
        assert pair(items).clean

    @given(a_path)
    def test_clean_by_ids_means_clean_by_items(self, path: list[list[Item]]) -> None:
        items, boundaries = joined(path)
        state = EMPTY.through((result_ids(node), call_ids(node)) for node in path)
        if state.clean:
            assert pair(items, boundaries).clean

    @given(a_path)
    def test_results_before_calls_are_judged_as_by_items(self, path: list[list[Item]]) -> None:
        ordered = [sorted(node, key=lambda item: item.get("type") == "tool_call") for node in path]
        items, _ = joined(ordered)
        found = pair(items)
        state = EMPTY.through((result_ids(node), call_ids(node)) for node in ordered)
        assert state.broken == bool(found.dropped_results)
        assert sorted(state.open) == sorted({call_id for _, call_id in found.dropped_calls})

    @given(a_path, st.integers(0, 8))
    def test_a_longer_path_continues_from_a_shorter_one(self, path: list[list[Item]], cut: int) -> None:
        nodes = [(result_ids(node), call_ids(node)) for node in path]
        stepped = EMPTY.through(nodes[:cut])
        for results, calls in nodes[cut:]:
            stepped = stepped.after(results, calls)
        assert stepped == EMPTY.through(nodes)
