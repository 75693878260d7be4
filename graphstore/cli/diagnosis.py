"""What ``doctor`` looks at, one finding after the other; it stops where nothing further can be known."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graphstore import queries
from graphstore.cli.plain import counted
from graphstore.database import Database, Row
from graphstore.errors import GraphStoreError, SchemaError, ServerError
from graphstore.local import LocalServer
from graphstore.migrations import pending, version_of
from graphstore.queries import load_migrations
from graphstore.settings import Settings
from graphstore.store import GraphStore, deletion, lost_turns, requests, sweeping
from graphstore.store.graph_store import connect

PACKAGES = ("conversation-graphstore", "neo4j", "neo4j-rust-ext")
LOW_DISK_BYTES = 1_000_000_000
PAGE = 2_000
NAMED = 5
"""So many conversations are named in one finding."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at. ``note`` is worth knowing, ``wrong`` needs doing something about: ``advice`` says what."""

    about: str
    state: Literal["ok", "note", "wrong"]
    words: str
    advice: str | None = None


def examine(
    settings: Settings, workspace: str | None, *, settle: bool, fix: bool = False, actor: str
) -> Iterator[Finding]:
    """Look at everything, from the installation to the workspace."""
    yield Finding("python", "ok", f"{platform.python_version()} on {platform.platform(terse=True)}")
    yield from _packages()
    if settings.neo4j_uri is None:
        yield from _folder(settings)
    try:
        database = connect(settings)
    except GraphStoreError as error:
        yield Finding("server", "wrong", str(error), "graphstore server logs" if settings.neo4j_uri is None else None)
        return
    try:
        yield _server(settings, database)
        schema = _schema(database)
        yield schema
        if schema.state != "wrong":
            store = GraphStore.open(workspace=workspace, actor=actor, settings=settings)
            with store:
                yield from _workspace(store, settle or fix, fix)
    finally:
        database.close()


def _packages() -> Iterator[Finding]:
    for name in PACKAGES:
        try:
            yield Finding(name, "ok", importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, "wrong", "not installed", f"pip install {name}")


def _folder(settings: Settings) -> Iterator[Finding]:
    status = LocalServer.from_settings(settings).status()
    yield Finding("data folder", "ok", str(status.data_folder))
    free = shutil.disk_usage(_existing(status.data_folder)).free
    words = f"{free / 1e9:,.1f} GB free"
    if free < LOW_DISK_BYTES:
        yield Finding("disk", "wrong", words, "free some space, or set GRAPHSTORE_HOME to a folder on another disk")
    else:
        yield Finding("disk", "ok", words)


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())


def _server(settings: Settings, database: Database) -> Finding:
    row = database.row(queries.SERVER_VERSIONS) or {}
    where = settings.neo4j_uri or LocalServer.from_settings(settings).status().uri
    kind = "embedded, " if settings.neo4j_uri is None else ""
    return Finding("server", "ok", f"{row.get('name')} {row.get('version')} {row.get('edition')}, {kind}at {where}")


def _schema(database: Database) -> Finding:
    newest = max(version_of(migration)[0] for migration in load_migrations())
    try:
        missing = pending(database)
    except SchemaError as error:
        return Finding("schema", "wrong", str(error))
    if missing:
        at = newest - len(missing)
        return Finding(
            "schema",
            "note",
            f"version {at} of {newest}",
            "it is brought up to date by itself, or by: graphstore migrate",
        )
    return Finding("schema", "ok", f"version {newest}, up to date")


def _workspace(store: GraphStore, settle: bool, fix: bool) -> Iterator[Finding]:
    try:
        census = store.session.row(queries.CENSUS) or {}
    except ServerError as error:
        yield Finding("workspace", "wrong", str(error))
        return
    yield Finding(
        "workspace",
        "ok",
        f"{store.workspace}: {counted(census['conversations'], 'conversation')}, {counted(census['nodes'], 'node')}",
    )
    if (restore := store.session.row(queries.RESTORE_MARK)) is not None:
        # Its conversations are marked as being deleted until all is there: nothing here may finish that.
        yield Finding(
            "restore",
            "wrong",
            f"of the archive with SHA-256 {restore['sha256']}, begun {restore['started_at']}, has not finished",
            "finish it with the same file: graphstore archive import FILE",
        )
        return
    yield _stuck(store, census["stuck"], settle)
    yield _unfinished(store, fix)
    yield _orphans(store)
    yield _settings(store, fix)
    yield _prices(store)
    if fix:
        swept = requests.sweep(store.session.database)
        yield Finding("answers", "ok", f"{swept:,} kept for repeated requests removed, as they were older than a day")
    waiting = census["pending"]
    if waiting:
        yield Finding("pending calls", "note", f"{waiting:,} not finished, of turns that run or ran without a lease")
    unseen: list[Row] = census["unseen"]
    if unseen:
        yield Finding(
            "unseen branches",
            "note",
            f"{len(unseen):,}, kept after a lost race, in {_named(unseen)}",
            "look with: graphstore tree ID; take one with: graphstore switch ID NODE",
        )
    else:
        yield Finding("unseen branches", "ok", "none")


def _stuck(store: GraphStore, stuck: list[Row], settle: bool) -> Finding:
    if not stuck:
        return Finding("dead turns", "ok", "none")
    if settle:
        for turn in stuck:
            lost_turns.settle(store.session, turn["conversation_id"], turn["turn_id"])
        return Finding("dead turns", "ok", f"{len(stuck):,} settled, in {_named(stuck)}")
    return Finding(
        "dead turns",
        "wrong",
        f"{len(stuck):,} past their lease, in {_named(stuck)}: the process that ran them has died",
        "whoever uses the conversation next settles it, or now: graphstore doctor --settle",
    )


def _unfinished(store: GraphStore, fix: bool) -> Finding:
    left = store.session.rows(queries.UNFINISHED_REMOVALS)
    if not left:
        return Finding("removals", "ok", "none unfinished")
    if not fix:
        return Finding(
            "removals",
            "wrong",
            f"{len(left):,} unfinished, in {_named(left)}: a deletion or a clear runs, or was interrupted",
            "repeat it, or finish them all: graphstore doctor --fix",
        )
    asking = [row for row in left if not deletion.finish(store.session, row["conversation_id"], row["deleting"])]
    if asking:
        return Finding(
            "removals",
            "wrong",
            f"{len(asking):,} unfinished, in {_named(asking)}: other conversations stand on what is left",
            "say what becomes of it, as when it was begun: graphstore delete ID --on-shared keep|erase",
        )
    return Finding("removals", "ok", f"{len(left):,} finished, in {_named(left)}")


def _orphans(store: GraphStore) -> Finding:
    found: list[Row] = []
    after: str | None = ""
    while after is not None:
        row = store.session.row(queries.STRAY_NODES, after=after, limit=PAGE) or {"strays": [], "last": None}
        found += [{"conversation_id": owner} for _, owner in row["strays"]]
        after = row["last"]
    if not found:
        return Finding("orphans", "ok", "none")
    words = f"{counted(len(found), 'node')} of conversations that aren't there: {_named(found)}"
    return Finding("orphans", "wrong", words, "see which, and what else disagrees: graphstore verify")


def _settings(store: GraphStore, fix: bool) -> Finding:
    if fix:
        swept = sweeping.sweep(store.session)
        return Finding("settings", "ok", f"{swept.removed:,} removed, {swept.unused:,} unused but kept for a day more")
    unused = len(sweeping.unused_settings(store.session))
    if not unused:
        return Finding("settings", "ok", "all in use")
    words = f"{unused:,} system prompts, tools or parameters that no node has any more"
    return Finding(
        "settings", "note", words, "run once to note them, a day later to remove them: graphstore doctor --fix"
    )


def _prices(store: GraphStore) -> Finding:
    spend = store.usage.by().total
    models = sorted({f"{one.provider or '?'}/{one.model or '?'}" for one in spend.unpriced})
    if not models:
        return Finding("prices", "ok", "known for every call that reported its usage")
    more = f" and {len(models) - NAMED} more" if len(models) > NAMED else ""
    return Finding(
        "prices",
        "note",
        f"not known of {', '.join(models[:NAMED])}{more}, which no sum of costs holds",
        "pip install 'conversation-graphstore[prices]', or give a table of your own: graphstore usage --prices FILE",
    )


def _named(rows: list[Row]) -> str:
    ids = list(dict.fromkeys(row["conversation_id"] for row in rows))
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(ids[:NAMED]) + more
