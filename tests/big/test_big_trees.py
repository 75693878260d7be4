"""Trees of the size of the largest seen in public, and larger: right, and at a cost that their size does not decide."""

from __future__ import annotations

import pytest
from big_trees import bushy, chain, conversation, fan, node_of, planted
from racing import value

from graphstore import GraphStore, queries
from graphstore.queries import Query


@pytest.fixture
def scale(request: pytest.FixtureRequest) -> int:
    """How many times larger than in an ordinary run."""
    return 10 if request.config.getoption("--slow") else 1


def hits(store: GraphStore, query: Query, **parameters: object) -> int:
    """What a query costs, in accesses to the store."""
    with store.session.database.session("read") as session:
        given = {"workspace": store.workspace, **parameters}
        plan = session.run(f"PROFILE {query.text}", given).consume().profile  # type: ignore[arg-type]

    def total(operator: dict) -> int:
        return int(operator.get("dbHits", 0)) + sum(total(child) for child in operator.get("children", ()))

    return total(plan)


@pytest.mark.rule("A1", "A2", "B4", "B5", "I6")
def test_a_tree_of_10671_nodes_with_275_branch_points_is_read_and_switched_right(store: GraphStore) -> None:
    calls, path = bushy(10_671, 275, 64)
    assert (len(calls), len(path)) == (10_671, 64)
    id = planted(store, conversation("bushy", calls, path[-1]))
    children: dict[str | None, list[str]] = {}
    for call in calls:
        children.setdefault(call.parent_key, []).append(call.key)
    above = {call.key: call.parent_key for call in calls}
    assert sum(len(kids) > 1 for kids in children.values()) == 275

    assert [node.id for node in store.path(id)] == [node_of("bushy", key) for key in path]
    assert len(store.context(id).items) == 2 * len(path)
    for marker, key in zip(store.markers(id), path, strict=True):
        siblings = children[above[key]]
        assert (marker.position, marker.count) == (siblings.index(key) + 1, len(siblings))
    alone = planted(store, conversation("alone", list(chain(len(path))), f"{len(path) - 1}"))
    costs = [hits(store, queries.ASSEMBLE, conversation_id=one, node_id=None, readers=["*"]) for one in (id, alone)]
    assert costs[0] == costs[1], "the other 10,607 nodes cost nothing"

    side = next(kids[-1] for key, kids in children.items() if key in path and len(kids) > 1)
    end = store.switch(id, node_of("bushy", side))
    keys = {node_of("bushy", call.key): call.key for call in calls}
    climbed: list[str] = []
    at: str | None = keys[end]
    while at is not None:
        climbed.append(at)
        at = above[at]
    assert side in climbed
    assert [node.id for node in store.path(id)] == [node_of("bushy", key) for key in reversed(climbed)]
    assert {node.id for node in store.tree(id)} == keys.keys()


@pytest.mark.rule("X2")
def test_a_very_long_conversation_is_deleted_whole(store: GraphStore, scale: int) -> None:
    nodes = 20_000 if scale == 1 else 100_000
    id = planted(store, conversation("long", list(chain(nodes)), f"{nodes - 1}"))
    heard: list[int] = []
    receipt = store.delete_conversation(id, progress=heard.append)
    assert (receipt.nodes, receipt.moves, receipt.kept, sum(heard)) == (nodes, 1, (), nodes)
    for label in ("Node", "Move", "Conversation"):
        assert value(store, f"MATCH (x:{label} {{workspace: $workspace}}) RETURN count(x)") == 0


@pytest.mark.rule("B4", "B5")
def test_a_turn_with_very_many_versions_has_its_number_and_a_window_of_fifty(store: GraphStore, scale: int) -> None:
    width = 10_000 * scale
    id = planted(store, conversation("wide", list(fan(width)), "0"))
    for place in (width // 2, 0, width - 1):
        store.switch(id, node_of("wide", f"{place}"))
        marker = store.markers(id)[-1]
        start = max(0, min(place - 25, width - 50))
        assert (marker.position, marker.count) == (place + 1, width)
        assert marker.siblings == tuple(node_of("wide", f"{n}") for n in range(start, start + 50))
        assert marker.left == (node_of("wide", f"{place - 1}") if place else None)
        assert marker.right == (node_of("wide", f"{place + 1}") if place + 1 < width else None)
        assert (marker.version, marker.versions) == (place % 3 + 1, 3)
        assert (marker.answer, marker.answers) == (place // 3 + 1, len(range(place % 3, width, 3)))
    cost = hits(store, queries.MARKERS, conversation_id=id, node_id=None, window=50)
    assert cost < 12 * width, "each sibling is looked at once"
    assert hits(store, queries.ASSEMBLE, conversation_id=id, node_id=None, readers=["*"]) < 100
