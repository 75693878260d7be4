"""Every fingerprint made again, every pointer followed (rule L5).

Conversations a page at a time; of each its moves and cursor, then its nodes from the top of its tree down, so that the
hash of a context goes on from that of its parent and each text is read and hashed once. Where the running hash is not
the stored one (an unfolded compaction, a late answer, filtered calls), the context is put together as
``store.saw_by_model`` does, which decides.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from graphstore import fingerprint, queries
from graphstore.database import Row
from graphstore.errors import GraphStoreError
from graphstore.models import Disagreement, VerifyReport
from graphstore.payloads import Payloads, hashes_in
from graphstore.segments import inner
from graphstore.store import labels, node_checks, reconstruction, summaries
from graphstore.store.archive import counts_of, refuse_unrestored
from graphstore.store.holdings import HOLDINGS
from graphstore.store.session import Session

if TYPE_CHECKING:
    from hashlib import _Hash

CONVERSATIONS = 50
NODES = 100
PAGE = 2_000
LISTED = 10_000
"""So many disagreements are kept to be listed; all are counted."""

Progress = Callable[[int, int], object]
Found = Iterator[Disagreement]


def verify(session: Session, progress: Progress) -> VerifyReport:
    """Check everything that a workspace holds."""
    refuse_unrestored(session)
    return _Verification(session, progress).run()


class _Running:
    """The hash of a context down to a node, as ``Segment.hasher`` makes it; goes on without what came before."""

    __slots__ = ("hasher", "started")

    def __init__(self, hasher: _Hash | None = None, started: bool = False) -> None:
        self.hasher = hashlib.sha256() if hasher is None else hasher
        self.started = started

    def after(self, *arrays: str) -> _Running:
        """The hash once these JSON arrays of items follow."""
        hasher, started = self.hasher.copy(), self.started
        for array in arrays:
            text = inner(array)
            if text:
                hasher.update((("," if started else "") + text).encode())
                started = True
        return _Running(hasher, started)

    def of_call(self, stored: dict[str, Any]) -> str:
        """The fingerprint of a call that sends all this with its settings."""
        hasher = self.hasher.copy()
        for name in ("system_hash", "tools_hash", "response_format_hash"):
            hasher.update(b"\n" + (stored.get(name) or "").encode())
        return hasher.hexdigest()


@dataclass
class _Verification:
    session: Session
    progress: Progress
    checked: Counter[str] = field(default_factory=Counter)
    listed: list[Disagreement] = field(default_factory=list)
    found: int = 0
    erased: int = 0

    def run(self) -> VerifyReport:
        self.total = sum(counts_of(self.session).values())
        self._conversations()
        for check in (self._strays, self._blobs, self._hanging, self._duplicates):
            for one in check():
                self._add(one)
        self.progress(self.total, self.total)
        return VerifyReport(
            workspace=self.session.workspace,
            checked=dict(self.checked),
            found=self.found,
            listed=tuple(self.listed),
            erased=self.erased,
        )

    def _add(self, one: Disagreement) -> None:
        self.found += 1
        if len(self.listed) < LISTED:
            self.listed.append(one)

    def _look(self, kind: str, count: int = 1) -> None:
        self.checked[kind] += count
        done = self.checked.total()
        if done % NODES < count:
            self.progress(done, max(done, self.total))

    def _conversations(self) -> None:
        after = ""
        while page := self.session.rows(queries.VERIFY_CONVERSATIONS, after=after, limit=CONVERSATIONS):
            found = list(self._page(page))
            if found:  # what was written between two looks seems wrong once
                again = self.session.rows(queries.VERIFY_CONVERSATIONS, after=after, limit=CONVERSATIONS)
                still = set(_Verification(self.session, lambda _done, _total: None, total=self.total)._page(again))
                found = [one for one in found if one in still]
            for one in found:
                self._add(one)
            after = page[-1]["id"]

    total: int = 0

    def _page(self, page: list[Row]) -> Found:
        whole = [row for row in page if not row["deleting"]]
        for row in whole:
            yield from _pointers(row, self.session.workspace)
            self._look("Conversation")
        structures = self.session.rows(queries.VERIFY_STRUCTURE, conversation_ids=[row["id"] for row in whole])
        order: list[str] = []
        above: dict[str, str] = {}
        for row in structures:
            hangs = dict(zip(row["ids"], row["above"], strict=True))
            reached = parents_first(hangs)
            for node_id in sorted(hangs.keys() - set(reached)):
                yield Disagreement(
                    what="path", kind="Node", id=node_id, stored="its path goes round", true="a path ends at a root"
                )
            order += reached
            above |= hangs
        yield from self._nodes(order, above)

    def _nodes(self, order: list[str], above: dict[str, str]) -> Found:
        """The nodes in an order in which each follows its parent; a hash is kept while children are to come."""
        children = Counter(above.values())
        running: dict[str, _Running] = {}
        rounds: set[tuple[str, int]] = set()
        for start in range(0, len(order), NODES):
            ids = order[start : start + NODES]
            rows = {row["id"]: row for row in self.session.rows(queries.VERIFY_NODES, ids=ids)}
            for node_id in ids:
                row = rows.get(node_id)
                if row is None:  # removed meanwhile
                    continue
                stored = row["properties"]
                self._look("Node")
                payloads = self._payloads(stored)
                yield from node_checks.check(row, payloads, self.session.workspace)
                place = (stored["turn_id"], stored["round"])
                if place in rounds:
                    yield Disagreement(
                        what="turn_line",
                        kind="Node",
                        id=node_id,
                        stored=f"a second round {place[1]} of turn {place[0]!r}",
                        true="a turn's calls form a line",
                    )
                if stored["kind"] != "compaction":
                    rounds.add(place)
                parent = above[node_id]
                try:
                    state = running.get(parent)
                    sent = payloads.restored(stored["sent"])
                    returned = payloads.restored(stored.get("returned", "[]"))
                except (GraphStoreError, KeyError):
                    continue  # said above
                children[parent] -= 1
                if children[parent] <= 0:
                    running.pop(parent, None)
                after: _Running | None
                if stored["kind"] == "compaction":
                    after = _Running().after(returned)
                elif state is None and parent:
                    # a fork's first node, or one below a text that can't be read: by its own path
                    after, found = self._by_path(row)
                    if after is not None:
                        after = after.after(returned)
                    if found is not None:
                        yield found
                else:
                    called = (state or _Running()).after(sent)
                    recorded = stored.get("context_hash")
                    if recorded is not None and called.of_call(stored) != recorded:
                        found = self._by_path(row)[1]
                        if found is not None:
                            yield found
                    after = called.after(returned)
                if children[node_id] > 0 and after is not None:
                    running[node_id] = after

    def _payloads(self, stored: dict[str, Any]) -> Payloads:
        return self.session.payloads([stored.get("sent"), stored.get("returned")])

    def _by_path(self, row: Row) -> tuple[_Running | None, Disagreement | None]:
        """The hash down to what a call sent, and what disagrees, from its whole path."""
        recorded = row["properties"].get("context_hash")

        def wrong(what: str, stored: object, true: object) -> Disagreement:
            return Disagreement(what=what, kind="Node", id=row["id"], stored=f"{stored}", true=f"{true}")

        try:
            saw = reconstruction.by_model(self.session, row["id"])
        except GraphStoreError as error:
            return None, wrong("path", f"its context can't be put together: {error}", "a whole path")
        segment = saw.context.segment
        state = None if segment is None else _Running(segment.hasher().copy(), not segment.blank)
        if recorded is None or saw.verdict == "same":
            return state, None
        if saw.erased:
            self.erased += 1
            return state, None
        return state, wrong("context_hash", recorded, saw.context.hash)

    def _strays(self) -> Found:
        after: str | None = ""
        while after is not None:
            row = self.session.row(queries.STRAY_NODES, after=after, limit=PAGE)
            assert row is not None
            for node_id, owner in row["strays"]:
                yield Disagreement(
                    what="owner", kind="Node", id=node_id, stored=f"owned by {owner!r}", true="no such conversation"
                )
            after = row["last"]

    def _blobs(self) -> Found:
        for row in self._things("Blob"):
            stored = row["properties"]
            data = stored.get("data", "")
            for name, true in (("sha256", fingerprint.sha256(data)), ("size", len(data.encode()))):
                if stored.get(name) != true:
                    yield Disagreement(
                        what=f"blob_{name}", kind="Blob", id=row["key"], stored=f"{stored.get(name)}", true=f"{true}"
                    )

    def _hanging(self) -> Found:
        for holding in HOLDINGS:
            if not holding.of:
                continue
            self._look(holding.label, (self.session.row(holding.count) or {"count": 0})["count"])
            for row in self.session.rows(holding.loose):
                yield Disagreement(
                    what="hanging",
                    kind=holding.label,
                    id=row["key"],
                    stored=f"{row['count']} × {holding.of[0]}",
                    true="exactly one",
                )
        for label, name, parts in (
            ("Effect", "proposal_hash", ("name", "arguments", "reversible", "compensation")),
            ("Fact", "value_hash", ("key", "value", "outside")),
            ("Feedback", "given_hash", ("rating", "score", "text", "by")),
        ):
            for row in self._things(label):
                yield from _fingerprint(label, row, name, parts)
        for row in self._things("Label"):
            has = row["properties"]
            yield from _derived("Label", row, "ON", partial(labels.id_of, name=has["name"], branch=has["branch"]))
        for row in self._things("Summary"):
            yield from _derived("Summary", row, "SUMMARIZES", summaries.id_of)
        for row in self._things("ToolResult"):
            refers = hashes_in([row["properties"].get("output")])
            uses = sorted(other for _, type, _, _, _, other in row["links"] if type == "USES")
            if uses != refers:
                yield Disagreement(
                    what="uses", kind="ToolResult", id=row["key"], stored=f"uses {uses}", true=f"refers to {refers}"
                )

    def _things(self, label: str) -> Iterator[Row]:
        (holding,) = (one for one in HOLDINGS if one.label == label)
        after = ""
        count = PAGE
        while count == PAGE:
            count = 0
            for row in self.session.database.stream(
                holding.page, fetch=holding.fetch, workspace=self.session.workspace, after=after, limit=PAGE
            ):
                if not holding.of:
                    self._look(label)
                yield row
                after, count = row["key"], count + 1

    def _duplicates(self) -> Found:
        for holding in HOLDINGS:
            for row in self.session.rows(holding.duplicates):
                yield Disagreement(
                    what="unique", kind=holding.label, id=row["key"], stored=f"{row['count']} of it", true="one"
                )


def parents_first(above: dict[str, str]) -> list[str]:
    """Nodes so that each comes after what it hangs on, a branch at a time; those on a circle are left out."""
    below: dict[str, list[str]] = {}
    tops: list[str] = []
    for node_id, parent in above.items():
        if parent in above:
            below.setdefault(parent, []).append(node_id)
        else:
            tops.append(node_id)
    order: list[str] = []
    stack = sorted(tops, reverse=True)
    while stack:
        node_id = stack.pop()
        order.append(node_id)
        stack.extend(sorted(below.get(node_id, ()), reverse=True))
    return order


def _pointers(row: Row, workspace: str) -> Found:
    def wrong(what: str, stored: object, true: object) -> Disagreement:
        return Disagreement(what=what, kind="Conversation", id=row["id"], stored=f"{stored}", true=f"{true}")

    cursors = row["cursors"]
    if len(cursors) > 1:
        yield wrong("cursor", f"{len(cursors)} cursors", "at most one")
    for node_id, owner, hidden, *key in cursors:
        if hidden:
            yield wrong("cursor", f"at {node_id!r}, which is hidden", "a node that is to be seen")
        if owner != workspace:
            yield wrong("workspace", f"cursor in workspace {owner!r}", "its own workspace")
        if key != [workspace, row["id"]]:
            yield wrong("relationship_key", key, [workspace, row["id"]])
    if row["strange"]:
        yield wrong("moves", f"{row['strange']} moves of another conversation", "its own only")
    moves = row["moves"]
    if moves != row["counted"] or (moves and (row["first_seq"], row["last_seq"]) != (1, moves)):
        yield wrong(
            "moves",
            f"{row['counted']} counted, {moves} there, numbered {row['first_seq']} to {row['last_seq']}",
            "as many as counted, numbered from 1 without a gap",
        )
    if row["accepted"] != row["version"]:
        yield wrong("version", row["version"], f"{row['accepted']} accepted moves")
    at = cursors[0][0] if cursors else None
    last = None if row["last"] is None else row["last"][0]
    if len(cursors) <= 1 and at != last:
        yield wrong("cursor", f"at {at!r}", f"its last accepted move led to {last!r}")
    if not row["turn_node_is_there"]:
        yield wrong("turn", f"its turn is at node {row['turn_node_id']!r}", "there is no such node")


def _derived(label: str, row: Row, type: str, id_of: Callable[[str], str]) -> Found:
    """An id made of the node that the thing hangs on: one that isn't would be found by nobody, and made twice."""
    for node_id in [other for _, one, _, _, _, other in row["links"] if one == type]:
        true = id_of(node_id)
        if row["key"] != true:
            yield Disagreement(what="id", kind=label, id=row["key"], stored=row["key"], true=true)


def _fingerprint(label: str, row: Row, name: str, parts: tuple[str, ...]) -> Found:
    stored = row["properties"]
    if name in stored:
        true = fingerprint.content_hash({part: stored[part] for part in parts if part in stored})
        if stored[name] != true:
            yield Disagreement(what=name, kind=label, id=row["key"], stored=f"{stored[name]}", true=true)
