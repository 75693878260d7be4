"""Items compared one by one, without a server."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.comparing import differences
from graphstore.models_branches import ComparedItem

pytestmark = pytest.mark.rule("W1")


def side(*texts: str) -> list[ComparedItem]:
    return [ComparedItem(node_id="n", returned=False, item=message(text)) for text in texts]


def message(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


def told(left: list[ComparedItem], right: list[ComparedItem]) -> list[tuple[str, str | None, str | None]]:
    return [
        (one.kind, one.left and one.left.item["content"], one.right and one.right.item["content"])
        for one in differences(left, right)
    ]


def test_equal_replaced_removed_and_added_items_are_told_apart():
    assert told(side("a", "b", "c"), side("a", "x", "c", "d")) == [
        ("equal", "a", "a"),
        ("replaced", "b", "x"),
        ("equal", "c", "c"),
        ("added", None, "d"),
    ]
    assert told(side("a", "b", "c"), side("c")) == [("removed", "a", None), ("removed", "b", None), ("equal", "c", "c")]
    assert told([], []) == []


def test_the_order_of_keys_makes_no_difference():
    item = {"content": "a", "role": "user", "type": "message"}
    other = [ComparedItem(node_id="m", returned=True, item=item)]
    assert [one.kind for one in differences(side("a"), other)] == ["equal"]


def test_only_items_of_one_kind_replace_each_other():
    call = {"type": "tool_call", "call_id": "1", "name": "search", "arguments": "{}"}
    steps = differences(side("a"), [ComparedItem(node_id="n", returned=True, item=call)])
    assert [one.kind for one in steps] == ["removed", "added"]


@given(st.lists(st.sampled_from("abcde"), max_size=30), st.lists(st.sampled_from("abcde"), max_size=30))
def test_each_side_can_be_read_off_the_steps(left, right):
    steps = told(side(*left), side(*right))
    assert [old for _, old, _ in steps if old is not None] == left
    assert [new for _, _, new in steps if new is not None] == right
    assert all(old == new for kind, old, new in steps if kind == "equal")
    assert all(old != new for kind, old, new in steps if kind == "replaced")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([f"l{i}" for i in range(20_000)], [f"r{i}" for i in range(20_000)]),
        (["ok"] * 20_000, ["ok"] * 15_000),
        ([f"{i}" for i in range(20_000)], [f"{i}" for i in range(20_000) if i % 2]),
        (["a", "b"] * 10_000, ["b", "c"] * 10_000),
        ([f"{i}" for i in range(20_000)], [f"{i}" for i in reversed(range(20_000))]),
    ],
    ids=["nothing in common", "all alike", "every second left out", "few values", "reversed"],
)
def test_long_branches_are_compared_in_little_time(left, right):
    a, b = side(*left), side(*right)
    began = time.perf_counter()
    steps = differences(a, b)
    assert time.perf_counter() - began < 5
    assert sum(one.left is not None for one in steps) == len(left)
