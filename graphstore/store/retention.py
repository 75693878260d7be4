"""What may go after a time: old conversations, or only their abandoned branches (rule Z3).

Rules are passed in with each run, not stored: whoever runs them has them in a file or a schedule. A plan says of each
conversation what goes or stays and why; ``apply`` plans anew and removes by the store's own verbs, so that what forks
stand on is handed to them and a running turn is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from graphstore import queries
from graphstore.database import Row
from graphstore.errors import BranchInUse, ConversationChanged, ConversationNotFound, NodesShared, TurnInProgress
from graphstore.models import RetentionRules, RetentionStep
from graphstore.store import conversations, deletion, tombstones
from graphstore.store.session import Session
from graphstore.store.usage import tags_of

PAGE = 200


class Retention:
    """What may go after a time: ``store.retention.plan(rules)``, ``store.retention.apply(rules)``."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def plan(self, rules: RetentionRules) -> Iterator[RetentionStep]:
        """A dry run: what would go and what would stay, with why, conversation by conversation; changes nothing."""
        for row in self._conversations():
            yield from self._of(row, rules)

    def apply(
        self, rules: RetentionRules, *, progress: Callable[[int], object] = lambda _: None
    ) -> Iterator[RetentionStep]:
        """Remove what the rules let go; gives the steps taken, with how many nodes went, and those left with why.

        Nothing happens until the steps are taken. Interrupted, the same call goes on. ``progress`` hears of the nodes.
        """
        for row in self._conversations():
            for step in self._of(row, rules):
                yield self._take(step, row["updated_at"], progress) if step.goes else step

    def _conversations(self) -> Iterator[Row]:
        after = ""
        while page := self._session.rows(queries.RETAINABLE, after=after, limit=PAGE):
            yield from page
            after = page[-1]["id"]

    def _of(self, row: Row, rules: RetentionRules) -> Iterator[RetentionStep]:
        def step(goes: bool, why: str, node_id: str | None = None, nodes: int = 0) -> RetentionStep:
            return RetentionStep(conversation_id=row["id"], node_id=node_id, goes=goes, nodes=nodes, why=why)

        tags = {tag for tag in tags_of(row["metadata"]) if tag is not None}
        idle = f"not changed for {row['idle_days']:.1f} days"
        if row["deleting"]:
            yield step(False, "is being deleted already")
        elif row["running"]:
            yield step(False, "a turn is running")
        elif row["idle_days"] < rules.older_than_days:
            yield step(False, f"{idle}, less than {rules.older_than_days}")
        elif rules.tags and not tags & set(rules.tags):
            yield step(False, f"has none of the tags {', '.join(rules.tags)}")
        elif kept := sorted(tags & set(rules.keep_tags)):
            yield step(False, f"kept by its tag {kept[0]!r}")
        elif kept := sorted(set(row["labels"]) & set(rules.keep_labels)):
            yield step(False, f"kept by a node's label {kept[0]!r}")
        elif not rules.abandoned_only:
            yield step(True, idle, nodes=row["nodes"])
        else:
            for top, branch, stays in self._abandoned(row["id"]):
                yield step(stays is None, stays or f"abandoned, {idle}", top, branch)

    def _abandoned(self, conversation_id: str) -> Iterator[tuple[str, int, str | None]]:
        """The branches off the accepted path: first node, how many nodes, and why it stays (``None``: it needn't)."""
        session = self._session
        accepted = {node.id for node in conversations.path(session, conversation_id, None)}
        below: dict[str, list[str]] = {}
        tops: list[str] = []
        nodes = {node.id: node for node in conversations.tree(session, conversation_id)}
        for node in nodes.values():
            above = node.parent_id or node.compacts_id
            if node.id in accepted or node.conversation_id != conversation_id:
                continue
            if above is None or above in accepted:
                tops.append(node.id)
            else:
                below.setdefault(above, []).append(node.id)
        shared = {
            node_id
            for row in session.rows(queries.NEEDED_NODES, conversation_id=conversation_id)
            for node_id in row["node_ids"]
        }
        unseen = {branch.node_id for branch in conversations.unseen_branches(session, conversation_id)}
        for top in tops:
            if nodes[top].kind != "turn" or nodes[top].round > 0:
                continue  # a side job, a summary, or a turn's later call: no branch that somebody left
            branch = [top]
            for node_id in branch:
                branch.extend(below.get(node_id, ()))
            if not shared.isdisjoint(branch):
                stays: str | None = "another conversation stands on it"
            else:
                stays = None if unseen.isdisjoint(branch) else "kept after a lost race, and nobody has looked at it"
            yield top, len(branch), stays

    def _take(self, step: RetentionStep, seen: str, progress: Callable[[int], object]) -> RetentionStep:
        try:
            if step.node_id is None:
                receipt = deletion.delete(self._session, step.conversation_id, "keep", False, progress, seen)
            else:
                tombstones.tombstone(self._session, step.node_id)
                receipt = tombstones.purge(self._session, step.node_id)
                progress(receipt.nodes)
        except (TurnInProgress, BranchInUse, NodesShared, ConversationChanged, ConversationNotFound) as error:
            return step.model_copy(update={"goes": False, "nodes": 0, "why": str(error)})
        return step.model_copy(update={"receipt": receipt})
