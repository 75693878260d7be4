"""Two branches compared along their history paths (rule W1)."""

from __future__ import annotations

from graphstore import queries
from graphstore.comparing import differences
from graphstore.errors import NodeNotFound, PathBroken
from graphstore.models import Node
from graphstore.models_branches import ComparedItem, Comparison
from graphstore.store.conversations import nodes_of
from graphstore.store.session import Session, steady


def compare(session: Session, left_id: str, right_id: str) -> Comparison:
    """What two nodes' paths share, and what each has below that; reads the items of the latter only."""
    row = session.row(queries.TWO_PATHS, left_id=left_id, right_id=right_id)
    assert row is not None
    for node_id, ids, whole in (
        (left_id, row["left_ids"], row["left_whole"]),
        (right_id, row["right_ids"], row["right_whole"]),
    ):
        if not ids:
            raise NodeNotFound(node_id, f"workspace {session.workspace!r}")
        if not whole:
            raise PathBroken(node_id, ids[-1])
    left, right = row["left_ids"][::-1], row["right_ids"][::-1]
    shared = 0
    while shared < min(len(left), len(right)) and left[shared] == right[shared]:
        shared += 1
    below = left[shared:] + right[shared:]
    found = nodes(session, below)
    if len(found) < len(below):  # some were removed between the two looks
        raise NodeNotFound(next(node_id for node_id in below if node_id not in found), "the two paths any more")
    left_nodes = tuple(found[node_id] for node_id in left[shared:])
    right_nodes = tuple(found[node_id] for node_id in right[shared:])
    return Comparison(
        left_id=left_id,
        right_id=right_id,
        common=tuple(left[:shared]),
        common_id=left[shared - 1] if shared else None,
        left_nodes=left_nodes,
        right_nodes=right_nodes,
        differences=differences(_items(left_nodes), _items(right_nodes)),
    )


def nodes(session: Session, node_ids: list[str]) -> dict[str, Node]:
    """Nodes by id; those that are not there (any more) are left out."""
    found = steady(lambda: nodes_of(session, session.rows(queries.NODES, node_ids=node_ids)))
    return {node.id: node for node in found}


def _items(path: tuple[Node, ...]) -> list[ComparedItem]:
    return [
        ComparedItem(node_id=node.id, returned=returned, item=item)
        for node in path
        for returned, items in ((False, node.sent), (True, node.returned))
        for item in items
    ]
