"""Removing nodes for good, in batches, from the ends of their branches upwards (rules S6, X2, X4).

Whatever is interrupted is finished by the same call again: each batch is one transaction, children go before parents,
and a batch in which something unexpected stands on a node removes nothing. Then all is read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from graphstore import fingerprint, queries
from graphstore.database import Row
from graphstore.errors import NodesShared
from graphstore.models import Kept, RemovalReceipt
from graphstore.queries import Query
from graphstore.store.session import Session

BATCH = 1000
"""Nodes a transaction removes, or hands over."""

PATIENCE = 10
"""How often in a row something may begin to stand on what is removed before anything of it is gone."""

Progress = Callable[[int], object]
"""Called with how many nodes were dealt with since the last call."""

_ERASED = '[{"type":"message","role":"%s","content":"[erased]"}]'


@dataclass
class Removal:
    """One conversation's nodes on their way out; counts what goes and what stays."""

    session: Session
    conversation_id: str
    erase: bool = False
    progress: Progress = lambda _: None
    nodes: int = 0
    bubbles: int = 0
    moves: int = 0
    kept: dict[str, int] = field(default_factory=dict)

    def all_of(self, candidates: Query) -> None:
        """Remove every node that ``candidates`` names, or hand it to the oldest conversation that needs it."""
        stalled = 0
        while above := self._above(candidates):
            before = self._done
            heirs = self._heirs(above)
            for heir_id in dict.fromkeys(heirs.values()):
                self._hand_over(heir_id, [node_id for node_id, heir in heirs.items() if heir == heir_id])
            blocked = self._delete({node_id: parent for node_id, parent in above.items() if node_id not in heirs})
            # What stands on a node only since it was looked at is seen at the next look.
            stalled = stalled + 1 if blocked and self._done == before else 0
            if stalled > PATIENCE:
                raise NodesShared(self.conversation_id, tuple(sorted({owner for _, owner in blocked})))

    @property
    def _done(self) -> int:
        return self.nodes + sum(self.kept.values())

    def _above(self, candidates: Query) -> dict[str, str]:
        row = self.session.row(candidates, conversation_id=self.conversation_id)
        return _hanging(row)

    def _heirs(self, above: dict[str, str]) -> dict[str, str]:
        """Node → the oldest conversation that needs it, for each node that others stand on and all above it."""
        heirs: dict[str, str] = {}
        for row in self.session.rows(queries.NEEDED_NODES, conversation_id=self.conversation_id):
            for node_id in row["node_ids"]:
                at = node_id
                while at in above and at not in heirs:
                    heirs[at] = row["conversation_id"]
                    at = above[at]
        return heirs

    def _hand_over(self, heir_id: str, node_ids: list[str]) -> None:
        for batch in _batches(node_ids):
            row = self.session.row(
                queries.HAND_OVER,
                conversation_id=self.conversation_id,
                heir_id=heir_id,
                node_ids=batch,
                erase=self.erase,
                blank=_BLANK,
                blank_returned=_ERASED % "assistant",
            )
            handed = row["handed"] if row is not None else 0
            if handed:
                self.kept[heir_id] = self.kept.get(heir_id, 0) + handed
            self.progress(handed)

    def _delete(self, above: dict[str, str]) -> list[list[str]]:
        """Remove nodes; stops at what somebody began to stand on meanwhile, and says so."""
        for batch in _batches(children_first(above)):
            row = delete_batch(self.session, self.conversation_id, batch)
            self.nodes += row["deleted"]
            self.bubbles += row["bubbles"]
            self.progress(row["deleted"])
            if row["blocked"]:
                blocked: list[list[str]] = row["blocked"]
                return blocked
        return []

    def all_moves(self) -> None:
        """Remove the history of the cursor."""
        while True:
            row = self.session.row(queries.DELETE_MOVES, conversation_id=self.conversation_id, limit=BATCH)
            if row is None or row["deleted"] == 0:
                return
            self.moves += row["deleted"]

    def receipt(self) -> RemovalReceipt:
        """What went and what stayed."""
        kept = tuple(Kept(conversation_id=heir, nodes=count, erased=self.erase) for heir, count in self.kept.items())
        return RemovalReceipt(
            conversation_id=self.conversation_id, nodes=self.nodes, bubbles=self.bubbles, moves=self.moves, kept=kept
        )


def purge(session: Session, conversation_id: str, node_id: str) -> RemovalReceipt:
    """Remove all that a tombstone hides. A hidden branch grows no more, and no cursor is on it."""
    removed = bubbles = 0
    while True:
        row = session.row(queries.HIDDEN_NODES, node_id=node_id)
        above = _hanging(row)
        if row is None or not above:
            return RemovalReceipt(conversation_id=conversation_id, nodes=removed, bubbles=bubbles)
        session.rows(queries.COUNT_REMOVAL, conversation_ids=row["owners"])
        for batch in _batches(children_first(above)):
            gone = delete_batch(session, conversation_id, batch)
            removed += gone["deleted"]
            bubbles += gone["bubbles"]
            if gone["blocked"]:
                raise NodesShared(conversation_id, tuple(sorted({owner for _, owner in gone["blocked"]})))


def delete_batch(session: Session, conversation_id: str, node_ids: list[str]) -> Row:
    """Remove nodes in one transaction, or none when something outside the batch stands on one."""
    row = session.row(queries.DELETE_NODES, conversation_id=conversation_id, node_ids=node_ids)
    return row or {"deleted": 0, "bubbles": 0, "blocked": []}


def children_first(above: dict[str, str]) -> list[str]:
    """The nodes in an order in which each comes after all that hang on it; linear, without recursion."""
    hanging = dict.fromkeys(above, 0)
    for parent in above.values():
        if parent in hanging:
            hanging[parent] += 1
    ready = [node_id for node_id, count in hanging.items() if count == 0]
    order: list[str] = []
    while ready:
        node_id = ready.pop()
        order.append(node_id)
        parent = above[node_id]
        if parent in hanging:
            hanging[parent] -= 1
            if hanging[parent] == 0:
                ready.append(parent)
    return order


def _hanging(row: Row | None) -> dict[str, str]:
    return {} if row is None else dict(zip(row["ids"], row["above"], strict=True))


def _batches(node_ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(node_ids), BATCH):
        yield node_ids[start : start + BATCH]


_BLANK = {
    "sent": _ERASED % "user",
    "sent_hash": fingerprint.sha256(_ERASED % "user"),
    "metadata": None,
    "failure_message": None,
    "system_hash": None,
    "tools_hash": None,
    "response_format_hash": None,
    "parameters_hash": None,
    "response_id": None,
    "options": None,
    "partial": None,
    "text": None,
}
