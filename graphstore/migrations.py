"""Schema migrations: numbered files, applied once, in order, each recorded with its checksum."""

from __future__ import annotations

import re

from graphstore import fingerprint, queries
from graphstore.database import Database
from graphstore.errors import SchemaError
from graphstore.queries import Query, load_migrations

_NAME = re.compile(r"schema/V(\d{4})__(\w+)")
_SCHEMA_VERSION_KEY = queries.load("schema/V0010__schema_version_key")


def version_of(migration: Query) -> tuple[int, str]:
    """The number and name of a migration file."""
    match = _NAME.fullmatch(migration.name)
    if match is None:
        raise SchemaError(f"migration file {migration.name!r} is not named V0001__what_it_does")
    return int(match[1]), match[2]


def newest() -> int:
    """The schema version that this program brings."""
    return max(version_of(migration)[0] for migration in load_migrations())


def pending(database: Database, migrations: list[Query] | None = None) -> list[Query]:
    """The migrations not applied yet.

    Raises ``SchemaError`` when the database is newer than this program, or an applied file has changed since.
    """
    migrations = load_migrations() if migrations is None else migrations
    known = {version_of(m)[0]: m for m in migrations}
    applied = {row["version"]: row for row in database.rows(queries.APPLIED_MIGRATIONS)}
    for version, row in applied.items():
        if version not in known:
            raise SchemaError(
                f"the database has schema version {version} ({row['name']}), newer than this program knows "
                f"({max(known, default=0)}): upgrade conversation-graphstore"
            )
        if row["checksum"] != checksum(known[version]):
            raise SchemaError(
                f"migration {known[version].name!r} was changed after it was applied to this database: "
                "restore the file and put the change into a new migration"
            )
    return [m for version, m in sorted(known.items()) if version not in applied]


def migrate(database: Database, migrations: list[Query] | None = None) -> list[str]:
    """Apply what is pending, in order; safe to run by several processes at once. Returns the names applied."""
    names = []
    todo = pending(database, migrations)
    if todo:
        # Another process may migrate at the same time: without this constraint both would record each version.
        database.rows(_SCHEMA_VERSION_KEY)
    for migration in todo:
        version, name = version_of(migration)
        database.rows(migration)
        database.rows(queries.RECORD_MIGRATION, version=version, name=name, checksum=checksum(migration))
        names.append(f"V{version:04}__{name}")
    return names


def checksum(migration: Query) -> str:
    """SHA-256 of a migration's statement, comments left out."""
    return fingerprint.sha256(migration.text)
