"""Migrations: applied once, checked by hash, never older than the database."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from own_server import own_server

from graphstore import queries
from graphstore.database import Database
from graphstore.errors import SchemaError
from graphstore.migrations import migrate, pending, version_of
from graphstore.queries import load_migrations, parse


@pytest.fixture(scope="module")
def empty_server(tmp_path_factory):
    """A database of its own: what is tested here would shut everybody else out of a shared one."""
    with own_server(tmp_path_factory.mktemp("migrations")) as (_, endpoint):
        connected = Database.connect(endpoint.uri, endpoint.username, endpoint.password)
        yield connected
        connected.close()


@pytest.fixture
def database(empty_server):
    """The same as new: no constraint, no index, no migration recorded."""
    with empty_server.session("write") as session:
        for kind, listed in (("CONSTRAINT", "CONSTRAINTS"), ("INDEX", "INDEXES")):
            names = session.run(f"SHOW {listed} YIELD name, type WHERE type <> 'LOOKUP' RETURN name").value()
            for name in names:
                session.run(f"DROP {kind} {name}").consume()
        session.run("MATCH (v:SchemaVersion) DELETE v").consume()
    return empty_server


def migration(version, name, query):
    return parse(f"schema/V{version:04}__{name}", f"// {name}\n{query}\n")


LATER = [
    migration(9001, "one_more", "CREATE INDEX one_more IF NOT EXISTS FOR (x:Nothing) ON (x.id)"),
    migration(9002, "and_another", "CREATE INDEX and_another IF NOT EXISTS FOR (x:Nothing) ON (x.other)"),
]
RACERS = 4


@pytest.mark.rule("L4")
def test_each_migration_is_applied_once_and_in_order(database):
    names = [f"V{number:04}" for number in range(1, len(load_migrations()) + 1)]
    assert [name[:5] for name in migrate(database)] == names
    assert migrate(database) == []
    assert pending(database) == []


@pytest.mark.rule("L4")
def test_a_new_migration_is_all_that_is_applied_then(database):
    migrate(database)
    assert migrate(database, [*load_migrations(), LATER[0]]) == ["V9001__one_more"]
    assert migrate(database, [*load_migrations(), *LATER]) == ["V9002__and_another"]
    assert migrate(database, [*load_migrations(), *LATER]) == []


@pytest.mark.rule("L4")
def test_programs_that_migrate_at_the_same_instant_record_each_migration_once(database):
    known = [*load_migrations(), *LATER]
    start = threading.Barrier(RACERS, timeout=60)

    def program(_):
        start.wait()
        return migrate(database, known)

    with ThreadPoolExecutor(RACERS) as pool:
        applied = list(pool.map(program, range(RACERS)))
    assert {name for names in applied for name in names} == {"V{:04}__{}".format(*version_of(one)) for one in known}
    versions = [row["version"] for row in database.rows(queries.APPLIED_MIGRATIONS)]
    assert versions == [version_of(one)[0] for one in known], "each recorded once"
    assert migrate(database, known) == []


@pytest.mark.rule("L4")
def test_a_migration_changed_after_it_was_applied_is_named(database):
    first, *rest = [*load_migrations(), *LATER]
    migrate(database, [first, *rest])
    changed = parse(first.name, f"// changed\n{first.text}\nOPTIONS {{}}\n")
    with pytest.raises(SchemaError, match=r"V0001__conversation_key.*was changed after it was applied"):
        pending(database, [changed, *rest])


@pytest.mark.rule("L4")
def test_an_older_program_refuses_a_newer_schema(database):
    migrate(database, [*load_migrations(), *LATER])
    with pytest.raises(SchemaError, match="newer than this program"):
        pending(database, [*load_migrations(), LATER[0]])


def test_a_migration_file_without_a_number_is_refused():
    with pytest.raises(SchemaError, match="not named V0001"):
        version_of(parse("schema/later", "// later\nRETURN 1\n"))
