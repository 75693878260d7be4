"""The nouns of working with branches: comparisons, labels, feedback, listings, search. Frozen, no I/O."""

from __future__ import annotations

from typing import Any, Literal

from graphstore.models import Frozen, Node


class ComparedItem(Frozen):
    """An item of one side of a comparison: which node holds it, and whether that sent or returned it."""

    node_id: str
    returned: bool
    item: dict[str, Any]


class Difference(Frozen):
    """One step of a comparison: an item of the left side, of the right side, or one of each.

    ``equal`` and ``replaced`` have both, ``removed`` only ``left``, ``added`` only ``right``.
    """

    kind: Literal["equal", "replaced", "removed", "added"]
    left: ComparedItem | None = None
    right: ComparedItem | None = None


class Comparison(Frozen):
    """Two branches beside each other: what they share, then what each has below that.

    ``common`` are the ids of the nodes that both history paths begin with, root first; ``common_id`` is the last of
    them (``None``: the branches have no node in common). ``left_nodes`` and ``right_nodes`` are the nodes below it,
    in path order, ``differences`` their items one by one: read the left sides to get the left branch, the right sides
    to get the right one.
    """

    left_id: str
    right_id: str
    common: tuple[str, ...]
    common_id: str | None
    left_nodes: tuple[Node, ...]
    right_nodes: tuple[Node, ...]
    differences: tuple[Difference, ...]
