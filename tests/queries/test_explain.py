"""Every query is planned by the server without a notice, and starts at an index."""

from __future__ import annotations

import re
from pathlib import Path

import neo4j
import pytest

from graphstore import queries
from graphstore.queries import Query
from graphstore.store.holdings import HOLDINGS

BOUND = [value for value in vars(queries).values() if isinstance(value, Query)]
# What archives make of three files, a query for each kind of thing.
DERIVED = [
    query
    for holding in HOLDINGS
    for query in (
        holding.page, holding.named, holding.count, holding.put, holding.duplicates,
        *([holding.loose] if holding.of else []),
        *(holding.put_links(link) for link in holding.links),
    )
]  # fmt: skip
QUERIES = sorted([*BOUND, *DERIVED], key=lambda query: query.name)
FILES = {
    f"{path.parent.name}/{path.stem}"
    for path in (Path(__file__).parents[2] / "cypher").glob("*/*.cypher")
    if path.parent.name != "schema"
}

# What reads all nodes of a label on purpose.
SCANS = {
    "read/applied_migrations",  # a dozen nodes, read once at a start
}
# What multiplies rows on purpose, or not at all.
PRODUCTS = {
    "read/census",  # three counts of one row each, side by side
    "write/import_cursors",  # each side is one node, found by its unique key
    "write/import_roots",  # the same
    "write/restore_links",  # the same
    "write/import_uses",  # the same
    "write/settle_call",  # the same
}
# What a caller may leave out.
NULLABLE = {"expected", "move", "node_id", "owner", "parent_id", "title", "turn_id", "since", "until"}
KINDS = {"limit": 10, "epoch": 0, "lease_ms": 1000, "version": 1, "expires_ms": 1000, "window": 50, "seconds": 60}
KINDS |= dict.fromkeys(("first", "exclusive", "exact", "end", "moves", "force", "erase", "claimed", "expired"), True)
KINDS |= dict.fromkeys(("keep", "same_turn"), True)
KINDS |= {"blank": {}, "change": {}}
LISTS = re.compile(r"(UNWIND|IN|FOREACH \(\w+ IN CASE WHEN [^|]*? THEN) \$(\w+)")


def parameters(query: Query) -> dict[str, object]:
    """A value of a fitting kind for each parameter; EXPLAIN plans without running."""
    lists = {match[2] for match in LISTS.finditer(query.text)}
    maps = set(re.findall(r"\$(\w+)\.\w+", query.text))
    kinds = {name: [] if name in lists else {} if name in maps else "x" for name in query.parameters}
    return {name: KINDS.get(name, value) for name, value in kinds.items()}


def operators(plan: dict) -> list[dict]:
    return [plan, *(inner for child in plan.get("children", []) for inner in operators(child))]


def test_every_file_is_bound_to_a_constant():
    assert {query.name for query in BOUND} == FILES


def test_every_exemption_is_of_a_file_that_is_there():
    assert FILES >= SCANS | PRODUCTS


@pytest.mark.rule("A2")
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
@pytest.mark.parametrize("absent", [set(), NULLABLE], ids=["all given", "some null"])
def test_a_query_is_planned_without_notice_scan_or_product(store, query, absent):
    given = {name: None if name in absent else value for name, value in parameters(query).items()}
    with store.session.database.session("write") as session:
        summary = session.run(f"EXPLAIN {query.text}", given).consume()
    notices = [
        notice.status_description
        for notice in summary.gql_status_objects
        if notice.is_notification and notice.severity == neo4j.NotificationSeverity.WARNING
    ]
    assert notices == []
    kinds = [operator["operatorType"].partition("@")[0] for operator in operators(summary.plan)]
    assert "AllNodesScan" not in kinds
    file = query.name.partition(" (")[0]
    if file not in SCANS:
        assert not [kind for kind in kinds if "LabelScan" in kind]
    if file not in PRODUCTS:
        assert "CartesianProduct" not in kinds
