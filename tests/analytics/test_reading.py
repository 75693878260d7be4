"""How an export reads: a page costs what the page holds, not what the store holds."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore import queries


def operators(plan: dict[str, Any]) -> list[str]:
    """The names of a plan's operators, the last one first."""
    found = [plan["operatorType"].partition("@")[0]]
    for child in plan.get("children", ()):
        found += operators(child)
    return found


@pytest.mark.rule("N1", "Z1")
def test_a_page_of_conversations_comes_from_the_index_in_its_order(store):
    """Sorting before the limit would read the whole workspace for every page."""
    with store.session.database.session("read") as session:
        explain = "EXPLAIN " + queries.PREFERENCE_BRANCHES.text
        plan = session.run(explain, workspace=store.workspace, after="", limit=10).consume().plan
    names = operators(plan)
    assert {"Limit", "NodeUniqueIndexSeek"} <= set(names)
    assert not {"Top", "AllNodesScan", "NodeByLabelScan", "CartesianProduct"} & set(names)
