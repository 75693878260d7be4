"""The rows of a drawn tree: what stands on which line, how deep, under which sign. Pure: nodes in, rows out.

Calls of one turn that follow each other are one row. At a branch point one branch goes on in the same column and the
others are drawn before it, a step to the right. The one that goes on is the active path, elsewhere the branch with the
most nodes, so a row is never deeper than log2(nodes) + 1, however long the conversation and however often it branched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from graphstore.models import Node, NodeKind, Status


class Sign(Enum):
    """What a row's first character says."""

    ACTIVE = "active"
    OTHER = "other"
    FAILED = "failed"
    PENDING = "pending"
    COMPACTION = "compaction"
    CONVERSION = "conversion"


@dataclass(frozen=True)
class Row:
    """One line of the drawing: a turn (or the part of one between two branch points), a compaction or a conversion.

    ``depth`` counts the branch lines left of it, ``starts_branch`` says that it hangs on the last of them.
    ``position`` of ``siblings`` is its marker (0 of 0: none). ``question`` is ``None`` where the row goes on with a
    turn that began above; ``repeated`` where the sibling drawn before it asks the same (never on the active path, which
    reads on its own).
    """

    depth: int
    starts_branch: bool
    sign: Sign
    active: bool
    cursor: bool
    position: int
    siblings: int
    question: str | None
    repeated: bool
    answer: str | None
    tools: tuple[str, ...]
    remark: str | None
    node_id: str
    model: str | None
    created_at: datetime


@dataclass
class _Group:
    nodes: list[Node]
    children: list[_Group]
    weight: int = 0

    @property
    def first(self) -> Node:
        return self.nodes[0]

    @property
    def last(self) -> Node:
        return self.nodes[-1]


@dataclass(frozen=True)
class _Placed:
    """A group and where it is drawn; ``repeated``: the sibling drawn before it asks the same."""

    group: _Group
    depth: int
    starts_branch: bool
    repeated: bool


def rows(nodes: Iterable[Node], cursor: str | None = None) -> list[Row]:
    """The rows of a conversation's tree, top to bottom; ``nodes`` as of ``GraphStore.tree``, in any order.

    A node whose parent is not among them stands as a root.
    """
    ordered = sorted(nodes, key=lambda node: (node.created_at, node.id))
    by_id = {node.id: node for node in ordered}
    below: dict[str | None, list[Node]] = {}
    for node in ordered:
        below.setdefault(_above(node, by_id), []).append(node)
    active = _upwards(cursor, by_id)
    markers = _markers(below)
    roots = _groups(below)
    out: list[Row] = []
    # the next to draw stands last
    stack = _placed(roots, 0, active)[::-1]
    while stack:
        placed = stack.pop()
        out.append(_row(placed, cursor, active, markers))
        stack += _placed(placed.group.children, placed.depth, active)[::-1]
    return out


def _above(node: Node, by_id: dict[str, Node]) -> str | None:
    above = node.parent_id or node.compacts_id
    return above if above in by_id else None


def _upwards(cursor: str | None, by_id: dict[str, Node]) -> set[str]:
    path: set[str] = set()
    at = by_id.get(cursor or "")
    while at is not None and at.id not in path:
        path.add(at.id)
        at = by_id.get(_above(at, by_id) or "")
    return path


def _markers(below: dict[str | None, list[Node]]) -> dict[str, tuple[int, int]]:
    """Position and number of each turn among its siblings, where there are several."""
    found: dict[str, tuple[int, int]] = {}
    for children in below.values():
        turns = [node.id for node in children if node.kind == NodeKind.TURN and node.round == 0]
        if len(turns) > 1:
            found |= {id: (place, len(turns)) for place, id in enumerate(turns, 1)}
    return found


def _groups(below: dict[str | None, list[Node]]) -> list[_Group]:
    """Join the calls of a turn that follow each other without a branch; weigh each group with all below it."""
    roots = [_Group([node], []) for node in below.get(None, [])]
    made: list[_Group] = []
    todo = list(roots)
    while todo:
        group = todo.pop()
        made.append(group)
        while True:
            children = below.get(group.last.id, [])
            if len(children) != 1 or not _goes_on(group.last, children[0]):
                break
            group.nodes.append(children[0])
        group.children = [_Group([child], []) for child in children]
        todo += group.children
    for group in reversed(made):  # children were made after their parents
        group.weight = len(group.nodes) + sum(child.weight for child in group.children)
    return roots


def _goes_on(node: Node, child: Node) -> bool:
    return child.turn_id == node.turn_id and child.kind == node.kind == NodeKind.TURN


def _placed(siblings: list[_Group], depth: int, active: set[str]) -> list[_Placed]:
    """The branches in drawing order: versions of a question together, the branch that keeps the column last."""
    if len(siblings) < 2:
        return [_Placed(group, depth, False, False) for group in siblings]
    main = max(
        siblings, key=lambda group: (group.first.id in active, group.weight, group.first.created_at, group.first.id)
    )
    questions: dict[str, list[_Group]] = {}
    for group in siblings:
        if group is not main:
            questions.setdefault(_question(group), []).append(group)
    last = questions.pop(_question(main), [])
    out: list[_Placed] = []
    for same in (*questions.values(), last):
        out += [_Placed(group, depth + 1, True, place > 0) for place, group in enumerate(same)]
    return [*out, _Placed(main, depth, False, bool(last) and main.first.id not in active)]


def _question(group: _Group) -> str:
    """What tells versions of a question apart; whatever is no turn is like no other."""
    is_turn = group.first.kind == NodeKind.TURN and group.first.round == 0
    return said(group.first.sent, "user") or "" if is_turn else group.first.id


def _row(placed: _Placed, cursor: str | None, active: set[str], markers: dict[str, tuple[int, int]]) -> Row:
    group = placed.group
    first, last = group.first, group.last
    position, siblings = markers.get(first.id, (0, 0))
    is_active = first.id in active
    begins = first.round == 0 and first.kind == NodeKind.TURN
    return Row(
        depth=placed.depth,
        starts_branch=placed.starts_branch,
        sign=_sign(group, is_active),
        active=is_active,
        cursor=any(node.id == cursor for node in group.nodes),
        position=position,
        siblings=siblings,
        question=_worded(first.sent, "user") or "" if begins else None,
        repeated=placed.repeated and begins,
        answer=_worded(last.returned or last.partial, "assistant"),
        tools=tuple(item.get("name") or "?" for node in group.nodes for item in node.returned if _is_call(item)),
        remark=_remark(last),
        node_id=last.id,
        model=next((node.model for node in reversed(group.nodes) if node.model), None),
        created_at=first.created_at,
    )


def _sign(group: _Group, is_active: bool) -> Sign:
    statuses = {node.status for node in group.nodes}
    if Status.FAILED in statuses:
        return Sign.FAILED
    if Status.PENDING in statuses:
        return Sign.PENDING
    if group.first.kind == NodeKind.COMPACTION:
        return Sign.COMPACTION
    if group.first.kind == NodeKind.CONVERSION:
        return Sign.CONVERSION
    return Sign.ACTIVE if is_active else Sign.OTHER


def _remark(node: Node) -> str | None:
    if node.failure is not None:
        words = node.failure.kind.replace("_", " ")
        return f"{words}: {node.failure.message}" if node.failure.message else words
    if node.status == Status.PENDING:
        return "not finished"
    if node.kind == NodeKind.COMPACTION:
        readers = "everyone" if not node.readers or "*" in node.readers else ", ".join(node.readers)
        return f"compaction, read by {readers}"
    if node.kind == NodeKind.CONVERSION:
        return "conversion"
    if node.author == "person":
        return "corrected by a person"
    return "stopped" if node.finish_reason == "cancelled" else None


def _is_call(item: dict[str, Any]) -> bool:
    return item.get("type") == "tool_call"


def said(items: list[dict[str, Any]], role: str) -> str | None:
    """The text of the last message of ``role`` among items; ``None`` when there is none."""
    for item in reversed(items):
        if item.get("type", "message") == "message" and item.get("role") == role:
            return _text(item.get("content"))
    return None


def _worded(items: list[dict[str, Any]], role: str) -> str | None:
    """What was said, or in brackets what there is instead of words; a call's tools are told elsewhere."""
    words = said(items, role)
    if (words or "").strip() or not items or any(_is_call(item) for item in items):
        return words
    return " ".join(dict.fromkeys(_instead(item) for item in items if item.get("role") != role)) or words


def _instead(item: dict[str, Any]) -> str:
    match item.get("type", "message"):
        case "raw":
            return f"[raw {item.get('format') or 'content'}{_kind(item.get('data'))}]"
        case "message":
            return f"[{item.get('role')} message]"
        case other:
            return f"[{str(other).replace('_', ' ')}]"


def _kind(raw: Any) -> str:
    """What a source calls its raw content: ``: user_editable_context``, or nothing."""
    if not isinstance(raw, dict):
        return ""
    content = raw.get("content")
    named = (content.get("content_type") if isinstance(content, dict) else None) or raw.get("content_type")
    named = named or raw.get("type") or raw.get("role")
    return f": {named}" if isinstance(named, str) else ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(_part(part) for part in parts if isinstance(part, dict))


def _part(part: dict[str, Any]) -> str:
    text = part.get("text")
    return text if isinstance(text, str) else _instead({"type": "part"} | part)
