"""What assembly costs, in the database's own unit: linear in the path, and nothing else counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graphstore import GraphStore, queries

DEPTHS = (1, 10, 100, 1000)
OTHERS = 10_000
HITS_PER_NODE, HITS_PER_QUERY = 11, 24

CHAIN = """
UNWIND range(1, $depth) AS i
CREATE (n:Node {workspace: $workspace, id: $prefix + i, conversation_id: $prefix, kind: 'turn', status: 'succeeded',
                turn_id: $prefix + i, round: 0, is_root: i = 1, author: 'model', sent: '[]', returned: '[]',
                sent_hash: 'x', created_at: datetime()})
WITH collect(n) AS nodes
FOREACH (i IN range(1, size(nodes) - 1) | FOREACH (child IN [nodes[i]] | FOREACH (parent IN [nodes[i - 1]] |
  CREATE (child)-[:PARENT {workspace: $workspace, child_id: $prefix + (i + 1)}]->(parent))))
WITH nodes, last(nodes) AS leaf
MATCH (c:Conversation {workspace: $workspace, id: $prefix})
CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: $prefix}]->(leaf)
"""

BRANCHES = """
MATCH (c:Conversation {workspace: $workspace, id: $prefix})-[:CURSOR]->()-[:PARENT*0..]->(n)
WITH collect(n) AS nodes
UNWIND range(1, $others) AS i
WITH nodes[i % size(nodes)] AS parent, i
CREATE (b:Node {workspace: $workspace, id: $prefix + ' branch ' + i, conversation_id: $prefix, kind: 'turn',
                status: 'succeeded', turn_id: $prefix + ' branch ' + i, round: 0, is_root: false, author: 'model',
                sent: '[]', returned: '[]', sent_hash: 'x', created_at: datetime()})
       -[:PARENT {workspace: $workspace, child_id: $prefix + ' branch ' + i}]->(parent)
"""


def operators(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("children", ()):
        yield from operators(child)


def kind(operator: dict[str, Any]) -> str:
    return str(operator["operatorType"]).partition("@")[0]


def profile(store: GraphStore, conversation_id: str | None, node_id: str | None) -> dict[str, Any]:
    parameters = {
        "workspace": store.workspace, "conversation_id": conversation_id, "node_id": node_id, "readers": ["*"],
    }  # fmt: skip
    with store.session.database.session("read") as session:
        # The second run: the first one's plan may have been made before the data was there.
        for _ in range(2):
            plan = session.run("PROFILE " + queries.ASSEMBLE.text, parameters).consume().profile  # type: ignore[arg-type]
    assert plan is not None
    return plan


def hits(plan: dict[str, Any]) -> int:
    return sum(int(operator.get("dbHits", 0)) for operator in operators(plan))


def run(store: GraphStore, cypher: str, **parameters: Any) -> None:
    with store.session.database.session("write") as session:
        session.run(cypher, {"workspace": store.workspace, **parameters}).consume()  # type: ignore[arg-type]


@pytest.fixture
def chains(store: GraphStore) -> dict[int, str]:
    """A conversation of each depth."""
    made = {}
    for depth in DEPTHS:
        made[depth] = store.create_conversation(id=f"chain {depth}")
        run(store, CHAIN, prefix=made[depth], depth=depth)
    return made


@pytest.mark.rule("A1", "A2")
def test_assembly_costs_the_same_for_each_node_of_the_path_and_nothing_for_others(
    store: GraphStore, chains: dict[int, str]
) -> None:
    alone = {depth: hits(profile(store, chain, None)) for depth, chain in chains.items()}
    assert alone == {depth: HITS_PER_NODE * depth + HITS_PER_QUERY for depth in DEPTHS}, "exactly linear"

    for chain in chains.values():
        run(store, BRANCHES, prefix=chain, others=OTHERS // len(chains))
    assert {depth: hits(profile(store, chain, None)) for depth, chain in chains.items()} == alone


@pytest.mark.rule("A2")
def test_assembly_starts_at_a_unique_index_and_scans_nothing(store: GraphStore, chains: dict[int, str]) -> None:
    for conversation_id, node_id in ((chains[10], None), (None, "chain 1010")):
        kinds = [kind(operator) for operator in operators(profile(store, conversation_id, node_id))]
        assert any("UniqueIndexSeek" in one for one in kinds), kinds
        assert not [one for one in kinds if "Scan" in one or one == "CartesianProduct"], kinds
