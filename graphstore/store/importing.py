"""Bulk import: big batches, each one transaction, safe to repeat and to race (rules I5, I6).

A batch locks its conversations first, in order of id, then reads which nodes are there, then writes the others. A very
large conversation is spread over several batches, parents first, so that a part of it is a valid tree and an
interrupted import is finished by repeating it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from graphstore import importers, queries
from graphstore.database import Row, Transaction
from graphstore.errors import GraphStoreError
from graphstore.fingerprint import new_id
from graphstore.importers import ImportedConversation
from graphstore.models import ImportOutcome
from graphstore.store.import_placing import Placed, place
from graphstore.store.imported_rows import ImportRows, rows_of
from graphstore.store.session import Session

# A transaction of 300,021 log commands, about what 10,000 nodes come to, brought a server with the embedded default of
# 512 MB heap down; a quarter of that leaves room for others.
BATCH_NODES = 2_500
BATCH_CHARACTERS = 8 * 1024 * 1024

_LEFT: dict[str, Literal["moved_here", "turn_running"]] = {"moved_here": "moved_here", "turn_running": "turn_running"}


@dataclass
class _Part:
    """A slice of one conversation's nodes; the last one also places the cursor and reports."""

    rows: ImportRows
    start: int
    stop: int
    is_last: bool
    added: int = 0
    known: int = 0
    changed: int = 0
    cursor: str | None = None
    """What ``write/import_cursors`` did about the cursor."""
    gone: bool = False


@dataclass
class _Batch:
    parts: list[_Part] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    nodes: int = 0
    characters: int = 0

    def add(self, part: _Part) -> None:
        self.parts.append(part)
        self.ids.add(part.rows.conversation["id"])
        self.nodes += part.stop - part.start
        self.characters += sum(part.rows.sizes[part.start : part.stop])

    @property
    def full(self) -> bool:
        return self.nodes >= BATCH_NODES or self.characters >= BATCH_CHARACTERS or len(self.parts) >= BATCH_NODES


def import_file(
    session: Session, path: Path | str, format: str | None, progress: Callable[[int, int], None] | None
) -> Iterator[ImportOutcome]:
    """Import a file, zip or folder; an outcome for each conversation, as soon as it is stored."""
    return import_conversations(session, importers.read(path, format, progress))


def import_conversations(session: Session, source: Iterable[ImportedConversation]) -> Iterator[ImportOutcome]:
    """Import conversations. One batch is written while the next is read."""
    totals: dict[str, _Part] = {}
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="graphstore-import") as writer:
        writing: Future[list[_Part]] | None = None
        for batch in _batches(session, source):
            if isinstance(batch, ImportOutcome):
                yield batch
                continue
            if writing is not None:
                yield from _outcomes(writing.result(), totals)
            writing = writer.submit(_write, session, batch)
        if writing is not None:
            yield from _outcomes(writing.result(), totals)


def _batches(session: Session, source: Iterable[ImportedConversation]) -> Iterator[_Batch | ImportOutcome]:
    batch = _Batch()
    for imported in source:
        if imported.report.skipped is not None:
            yield _skipped(imported, imported.report.skipped)
            continue
        try:
            rows = rows_of(session, imported)
        except GraphStoreError as error:
            yield _skipped(imported, str(error))
            continue
        if (
            rows.conversation["id"] in batch.ids
        ):  # the same conversation twice in one file: the second adds to the first
            yield batch
            batch = _Batch()
        for part in _parts(rows):
            batch.add(part)
            if batch.full:
                yield batch
                batch = _Batch()
    if batch.parts:
        yield batch


def _parts(rows: ImportRows) -> Iterator[_Part]:
    start = characters = 0
    for stop, size in enumerate(rows.sizes, 1):
        characters += size
        if stop < len(rows.sizes) and (stop - start >= BATCH_NODES or characters >= BATCH_CHARACTERS):
            yield _Part(rows, start, stop, is_last=False)
            start, characters = stop, 0
    yield _Part(rows, start, len(rows.nodes), is_last=True)


def _write(session: Session, batch: _Batch) -> list[_Part]:
    session.database.transaction(lambda transaction: _write_once(session, transaction, batch))
    return batch.parts


def _write_once(session: Session, transaction: Transaction, batch: _Batch) -> None:
    """Write a batch; may run more than once, so it sets what it reports and adds to nothing."""
    workspace = session.workspace
    conversations = sorted((part.rows.conversation for part in batch.parts), key=lambda row: row["id"])
    there = {
        row["id"]: row
        for row in transaction.rows(queries.IMPORT_CONVERSATIONS, workspace=workspace, conversations=conversations)
    }
    stored = _Stored(transaction, workspace)
    fresh: list[Row] = []
    cursors: list[Row] = []
    settings: dict[str, str] = {}
    heavy: dict[str, list[Row]] = {}
    for part in batch.parts:
        conversation_id = part.rows.conversation["id"]
        part.gone = there[conversation_id]["deleting"]
        if part.gone:
            continue
        rows = part.rows.nodes[part.start : part.stop]
        placed = Placed(rows, {}, 0) if there[conversation_id]["created"] else place(rows, stored.hashes)
        fresh += placed.fresh
        part.added, part.changed = len(placed.fresh), placed.changed
        part.known = len(rows) - part.added
        settings |= part.rows.settings
        heavy |= part.rows.blobs
        if part.is_last and part.rows.cursor is not None:
            end = placed.renamed.get(part.rows.cursor, part.rows.cursor)
            cursors.append({"conversation_id": conversation_id, "node_id": end, "move_id": new_id()})
    if settings:
        listed = [{"sha256": k, "data": v, "size": len(v.encode())} for k, v in sorted(settings.items())]
        transaction.rows(queries.IMPORT_SETTINGS, workspace=workspace, settings=listed)
    if fresh:
        uses = [(row["node"]["id"], blob) for row in fresh for blob in heavy.get(row["node"]["id"], ())]
        blobs = {blob["sha256"]: blob for _, blob in uses}
        if blobs:
            transaction.rows(queries.IMPORT_BLOBS, workspace=workspace, blobs=[blobs[key] for key in sorted(blobs)])
        transaction.rows(queries.IMPORT_NODES, workspace=workspace, rows=fresh)
        if uses:
            links = [{"node_id": node_id, "sha256": blob["sha256"]} for node_id, blob in uses]
            transaction.rows(queries.IMPORT_USES, workspace=workspace, uses=links)
    roots = [
        {"conversation_id": row["node"]["conversation_id"], "node_id": row["node"]["id"]}
        for row in fresh
        if row["parent_id"] is None
    ]
    if roots:
        transaction.rows(queries.IMPORT_ROOTS, workspace=workspace, roots=roots)
    placed_cursors = transaction.rows(queries.IMPORT_CURSORS, workspace=workspace, cursors=cursors, actor=session.actor)
    outcomes = {row["id"]: row["outcome"] for row in placed_cursors}
    for part in batch.parts:
        part.cursor = outcomes.get(part.rows.conversation["id"]) if part.is_last else None


@dataclass
class _Stored:
    """What is stored under some ids, read within the batch's transaction."""

    transaction: Transaction
    workspace: str

    def hashes(self, node_ids: list[str]) -> dict[str, tuple[str, str | None]]:
        """Of those ids that are stored, what was sent and what came of it, as hashes."""
        if not node_ids:
            return {}
        rows = self.transaction.rows(queries.KNOWN_NODES, workspace=self.workspace, node_ids=node_ids)
        return {row["id"]: (row["sent_hash"], row["result_hash"]) for row in rows}


def _outcomes(parts: list[_Part], totals: dict[str, _Part]) -> Iterator[ImportOutcome]:
    """The outcomes of the conversations that are complete with these parts."""
    for part in parts:
        key = part.rows.conversation["id"]
        before = totals.pop(key, None)
        if before is not None:
            part.added += before.added
            part.known += before.known
            part.changed += before.changed
        if not part.is_last:
            totals[key] = part
            continue
        imported = part.rows.imported
        if part.gone:
            yield _skipped(imported, f"conversation {key!r} is being deleted; import it again afterwards")
            continue
        if part.changed:
            imported.report.counts["changed"] += part.changed
            imported.report.notes.append(
                f"{part.changed} calls differ from what was imported before; they are kept as they were"
            )
        yield ImportOutcome(
            source=imported.source,
            source_id=imported.source_id,
            title=imported.title,
            conversation_id=key,
            nodes_added=part.added,
            nodes_known=part.known,
            cursor_moved=part.cursor == "moved",
            cursor_left=_LEFT.get(part.cursor or ""),
            skipped=None,
            counts=dict(imported.report.counts),
            notes=tuple(imported.report.notes),
        )


def _skipped(imported: ImportedConversation, why: str) -> ImportOutcome:
    return ImportOutcome(
        source=imported.source,
        source_id=imported.source_id,
        title=imported.title,
        conversation_id=None,
        nodes_added=0,
        nodes_known=0,
        cursor_moved=False,
        skipped=why,
        counts=dict(imported.report.counts),
        notes=tuple(imported.report.notes),
    )
