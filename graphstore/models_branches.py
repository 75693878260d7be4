"""The nouns of working with branches: comparisons, labels, feedback, listings, search. Frozen, no I/O."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from graphstore.models import Frozen, Node, Status


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


class Label(Frozen):
    """A word that somebody put on a node, or (``branch``) on the branch that begins there.

    ``conversation_id`` owns the node. ``actor`` is who put it there, as the store was opened (``None``: not said).
    """

    node_id: str
    conversation_id: str
    name: str
    branch: bool
    actor: str | None
    created_at: datetime


class Feedback(Frozen):
    """What somebody thinks of a node: ``rating``, ``score`` (on a scale of one's own), ``text``; at least one."""

    id: str
    node_id: str
    conversation_id: str
    rating: Literal["up", "down"] | None = None
    score: float | None = None
    text: str | None = None
    by: str | None = None
    created_at: datetime


class BranchSummary(Frozen):
    """What a branch was about, in somebody's words; ``node_id`` is where the branch begins."""

    node_id: str
    text: str
    by: str | None
    created_at: datetime


class Branch(Frozen):
    """A live branch of a conversation, named by its end.

    ``leaves_at`` is the node of the accepted path that it hangs on (``None``: it has a first question of its own, or is
    the accepted path itself), ``first_id`` and ``nodes`` the first and the number of its own nodes below that; of the
    accepted one all are its own. ``labels`` are those on its end and on branches that begin among its own nodes;
    ``summary`` is the one attached nearest to its end. ``newest_at`` is when its end was completed (or begun).
    """

    node_id: str
    first_id: str
    leaves_at: str | None
    nodes: int
    status: Status
    newest_at: datetime
    accepted: bool
    labels: tuple[str, ...] = ()
    summary: str | None = None


class SearchHit(Frozen):
    """A node that a search found: where it lies, and a piece of the text that fits.

    ``conversation_id`` owns the node; ``accepted_in`` are conversations on whose accepted path it is (at most ten;
    forks may share it), and ``on_accepted_path`` says whether its own is among them. ``role`` is whose text it is
    (``user``, ``assistant``, ``tool_call``, ``tool_result`` …), ``spans`` are where in ``snippet`` the words are.
    ``score`` compares hits of one search only.
    """

    node_id: str
    conversation_id: str
    on_accepted_path: bool
    accepted_in: tuple[str, ...]
    role: str
    snippet: str
    spans: tuple[tuple[int, int], ...]
    score: float
