"""A whole workspace as one file, and back (rule I7).

**What an export holds when others write meanwhile.** Nothing is locked and the database has no snapshots, so the file
is made consistent by the order of reading. Conversations first, each with its cursor and its number of moves as they
were at one time; then their nodes, which never change once settled; then payloads; then what hangs on those, a move
only if it was made before its conversation was read. What came later than its conversation's reading is left out, or is
a branch that nobody stands on. At the end every pointer in the file is followed: what it names and the file lacks is
read once more; if it was removed meanwhile the export is refused, and nothing is left behind.

**A restore** checks the file from end to end before it writes. It goes in steps, each one transaction that also notes
how far it has come, so that nothing is written twice and the same command finishes what was interrupted. Until all is
there, every conversation is marked as being deleted: nobody reads or writes half of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphstore import migrations, queries, stored_values
from graphstore.database import Row, Transaction
from graphstore.errors import (
    ArchiveUnreadable,
    ExportDisturbed,
    InvalidInput,
    RestoreInProgress,
    WorkspaceNotEmpty,
)
from graphstore.fingerprint import new_id
from graphstore.models import ArchiveReport
from graphstore.queries import Query
from graphstore.store import archive_file
from graphstore.store.archive_file import Header, Whole, Writer
from graphstore.store.archive_keys import Keys
from graphstore.store.holdings import HOLDING, HOLDINGS, Holding
from graphstore.store.session import Session

PAGE = 2_000
BATCH = 2_500
"""Things or relationships a transaction puts back."""
BATCH_BYTES = 8 * 1024 * 1024
LATE = 100
"""Things read in one go that others point to and that came late."""
LOOKS = 100
"""How often a conversation that keeps changing is looked at again."""

Progress = Callable[[int, int], object]
"""Called with how much was done, and of how much."""


def _unseen(_done: int, _total: int) -> None: ...


class Archive:
    """A workspace as one file, which is also its backup: ``store.archive``."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def export(self, path: Path | str, *, overwrite: bool = False, progress: Progress = _unseen) -> ArchiveReport:
        """Write everything that the workspace holds into a file; memory stays flat at any size.

        The workspace may be used meanwhile: the file has every conversation as it was at one moment of the export.
        ``progress`` gets the things written and about how many there are. Raises ``InvalidInput`` when there is such a
        file (unless ``overwrite``), ``ExportDisturbed`` when something was removed that it needs,
        ``RestoreInProgress``.
        """
        refuse_unrestored(self._session)
        return _Export(self._session, Path(path), overwrite, progress).run()

    def restore(self, path: Path | str, *, progress: Progress = _unseen) -> ArchiveReport:
        """Put everything of a file into this workspace, which must be empty; its name need not be the same.

        Until all is there no conversation can be read. Interrupted, the same call finishes it. ``progress`` gets the
        steps done and their number. Raises ``ArchiveUnreadable`` (then nothing was written), ``WorkspaceNotEmpty``,
        ``RestoreInProgress`` when another file is being restored here.
        """
        return _Restore(self._session, Path(path), progress).run()

    def check(self, path: Path | str, *, progress: Progress = _unseen) -> ArchiveReport:
        """Read a file from end to end and say what it holds. Raises ``ArchiveUnreadable``."""
        whole = archive_file.check(Path(path), migrations.newest(), progress)
        return _report(whole.header.workspace, Path(path), whole.counts, whole.sha256)


def counts_of(session: Session) -> dict[str, int]:
    """How many things of each kind a workspace holds; kinds it has none of are left out."""
    found = {holding.label: (session.row(holding.count) or {"count": 0})["count"] for holding in HOLDINGS}
    return {label: count for label, count in found.items() if count}


def refuse_unrestored(session: Session) -> None:
    """Raise ``RestoreInProgress`` for a workspace whose restore has not finished."""
    row = session.row(queries.RESTORE_MARK)
    if row is not None:
        raise RestoreInProgress(session.workspace, row["sha256"])


def _report(workspace: str, path: Path, counts: dict[str, int], sha256: str) -> ArchiveReport:
    return ArchiveReport(workspace=workspace, path=path, bytes=path.stat().st_size, counts=counts, sha256=sha256)


@dataclass
class _Export:
    session: Session
    path: Path
    overwrite: bool
    progress: Progress

    def run(self) -> ArchiveReport:
        total = sum(counts_of(self.session).values())
        header = Header(self.session.workspace, migrations.newest())
        with Keys() as keys, Writer(self.path, header, overwrite=self.overwrite) as writer:
            self.keys, self.writer = keys, writer
            self.progress(0, total)
            for holding in HOLDINGS:
                for row in self._things(holding):
                    self._put(holding, row)
                    done = writer.counts.total()
                    if done % 500 == 0:
                        self.progress(done, max(done, total))
            self._close()
            sha256 = writer.finish()
        self.progress(writer.counts.total(), writer.counts.total())
        return _report(self.session.workspace, self.path, dict(writer.counts), sha256)

    def _things(self, holding: Holding) -> Iterator[Row]:
        if holding.label == "Conversation":
            return self._conversations(holding)
        if holding.label == "Node":
            return self._nodes(holding)
        return (row for row in self._pages(holding) if self._was_there(holding, row))

    def _pages(self, holding: Holding) -> Iterator[Row]:
        after = ""
        while True:
            count = 0
            for row in self.session.database.stream(
                holding.page, fetch=holding.fetch, workspace=self.session.workspace, after=after, limit=PAGE
            ):
                yield row
                after, count = row["key"], count + 1
            if count < PAGE:
                return

    def _conversations(self, holding: Holding) -> Iterator[Row]:
        """Each conversation with the cursor that belongs to its number of moves: as two looks in a row agree on."""
        after = ""
        while page := self.session.rows(holding.page, after=after, limit=holding.fetch):
            after = page[-1]["key"]
            found = {row["key"]: row for row in page}
            agreed: dict[str, Row] = {}
            for _ in range(LOOKS):
                unsure = sorted(found.keys() - agreed.keys())
                if not unsure:
                    break
                again = {row["key"]: row for row in self.session.rows(holding.named, keys=unsure)}
                for key in unsure:
                    if key not in again:
                        del found[key]
                    elif again[key] == found[key]:
                        agreed[key] = found[key]
                    else:
                        found[key] = again[key]
            else:
                raise ExportDisturbed(f"conversation {unsure[0]!r} never stood still")
            yield from (agreed[key] for key in sorted(agreed))

    def _nodes(self, holding: Holding) -> Iterator[Row]:
        """Those of the conversations that were read, and those whose conversation isn't there at all."""
        strangers: set[str] = set()
        for row in self._pages(holding):
            owner = row["properties"].get("conversation_id")
            unread = owner is not None and owner not in strangers and not self.keys.has("Conversation", owner)
            if unread and self.session.rows(queries.KNOWN_CONVERSATIONS, ids=[owner]):
                strangers.add(owner)
            if owner not in strangers:
                yield row

    def _was_there(self, holding: Holding, row: Row) -> bool:
        """Whether a thing was there when what it hangs on was read."""
        for _, type, _, _, labels, other in row["links"]:
            if type in holding.of and not self.keys.has(_kind(labels), other):
                return False
            if type == "MOVED" and row["properties"]["seq"] > self.keys.moves(other):
                return False
        return True

    def _put(self, holding: Holding, row: Row) -> None:
        key, workspace = row["key"], self.session.workspace
        whose = f"{holding.label} {key!r}"
        properties = stored_values.plain(row["properties"], row["times"], whose)
        del properties["workspace"]
        links = []
        for way, type, held, times, labels, other in row["links"]:
            on = stored_values.plain(held, times, f"a {type} of {whose}")
            if on.get("workspace") == workspace:
                on["workspace"] = None  # the one it is restored into
            links.append([way, type, _kind(labels), other, on])
        links.sort(key=archive_file.text_of)
        flags = sorted(label for label in row["labels"] if label != holding.label)
        self.writer.put(holding.label, {"key": key, "flags": flags, "properties": properties, "links": links})
        self.keys.add(holding.label, key, properties.get("moves") if holding.label == "Conversation" else None)
        self.keys.need((link[2], link[3]) for link in links)

    def _close(self) -> None:
        """Read what the file points to and lacks, until it lacks nothing."""
        while missing := self.keys.missing(LATE):
            for label, keys in missing.items():
                if label == "Conversation":
                    raise ExportDisturbed(f"conversation {keys[0]!r} came while the others were read")
                rows = self.session.rows(HOLDING[label].named, keys=keys)
                if len(rows) < len(keys):
                    gone = min(set(keys) - {row["key"] for row in rows})
                    raise ExportDisturbed(f"{label} {gone!r}, which others point to, was removed")
                for row in rows:
                    self._put(HOLDING[label], row)


def _kind(labels: list[str]) -> str:
    return next((label for label in labels if label in HOLDING), labels[0])


@dataclass
class _Restore:
    session: Session
    path: Path
    progress: Progress

    def run(self) -> ArchiveReport:
        whole = archive_file.check(self.path, migrations.newest(), _unseen)
        unknown = whole.counts.keys() - HOLDING.keys()
        if unknown:
            raise ArchiveUnreadable(str(self.path), f"it holds things of an unknown kind, {min(unknown)!r}")
        self.sha256, self.steps = whole.sha256, 2 * whole.records
        self.done = self._begin(whole)
        start = 0
        for records in (self._batches(_things), self._batches(_links)):
            for weight, rows in records:
                # what an interrupted restore has put back already is read, and passed over
                if start >= self.done:
                    self._step(start, start + weight, rows)
                start += weight
                self.progress(start, self.steps)
        self._release()
        self.progress(self.steps, self.steps)
        return _report(self.session.workspace, self.path, whole.counts, whole.sha256)

    def _begin(self, whole: Whole) -> int:
        row = self.session.row(queries.MARK_RESTORE, sha256=whole.sha256, operation_id=new_id())
        assert row is not None
        if row["fresh"]:
            there = counts_of(self.session)
            if there:
                self.session.rows(queries.UNMARK_RESTORE)
                raise WorkspaceNotEmpty(self.session.workspace, there)
        elif row["sha256"] != whole.sha256:
            raise RestoreInProgress(self.session.workspace, row["sha256"])
        done: int = row["done"]
        return done

    def _batches(
        self, of: Callable[[dict[str, Any]], Iterable[tuple[Query, Row]]]
    ) -> Iterator[tuple[int, dict[str, tuple[Query, list[Row]]]]]:
        """Records in batches: how many there are, and what is to be put back of them, by query."""
        weight = count = size = 0
        rows: dict[str, tuple[Query, list[Row]]] = {}
        for record in archive_file.records(self.path, _unseen):
            weight += 1
            try:
                for query, row in of(record):
                    rows.setdefault(query.name, (query, []))[1].append(row)
                    count += 1
            except (KeyError, TypeError, ValueError) as error:
                raise InvalidInput(f"{record.get('kind')} {record.get('key')!r} of the archive: {error!r}") from None
            size += _size(record)
            if count >= BATCH or size >= BATCH_BYTES or weight >= BATCH:
                yield weight, rows
                weight, count, size, rows = 0, 0, 0, {}
        if weight:
            yield weight, rows

    def _step(self, before: int, done: int, rows: dict[str, tuple[Query, list[Row]]]) -> None:
        workspace = self.session.workspace

        def write(transaction: Transaction) -> None:
            taken = transaction.rows(
                queries.ADVANCE_RESTORE, workspace=workspace, sha256=self.sha256, before=before, done=done
            )
            outcome = taken[0]["outcome"] if taken else "elsewhere"
            if outcome == "repeated":
                return
            if outcome == "elsewhere":
                raise RestoreInProgress(workspace, self.sha256)
            for query, batch in rows.values():
                put = transaction.rows(query, workspace=workspace, rows=_in_workspace(batch, workspace))[0]["put"]
                if put != len(batch):
                    raise ArchiveUnreadable(
                        str(self.path), f"{len(batch) - put} of its pointers ({query.name}) lead nowhere"
                    )

        self.session.database.transaction(write)

    def _release(self) -> None:
        after: str | None = ""
        while after is not None:
            row = self.session.row(queries.RELEASE_RESTORED, after=after, limit=BATCH)
            after = None if row is None else row["last"]
        self.session.rows(queries.UNMARK_RESTORE)


def _things(record: dict[str, Any]) -> Iterator[tuple[Query, Row]]:
    properties = stored_values.stored(record["properties"])
    if record["kind"] == "Conversation":
        properties |= {"restoring": properties["deleting"], "deleting": True}
    yield HOLDING[record["kind"]].put, {"properties": properties, "flags": record["flags"]}


def _links(record: dict[str, Any]) -> Iterator[tuple[Query, Row]]:
    holding = HOLDING[record["kind"]]
    for way, type, kind, other, properties in record["links"]:
        link = next(link for link in holding.links if (link.type, link.other, link.out) == (type, kind, way == "out"))
        # null stands for the workspace itself
        row = {"key": record["key"], "other": other, "properties": stored_values.stored(properties)}
        yield holding.put_links(link), row


def _in_workspace(rows: list[Row], workspace: str) -> list[Row]:
    for row in rows:
        if "workspace" in row["properties"]:
            row["properties"]["workspace"] = workspace
    return rows


def _size(record: dict[str, Any]) -> int:
    return sum(len(value) for value in record["properties"].values() if isinstance(value, str))
