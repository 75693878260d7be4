"""The driver, and the one place that runs queries.

Every write of this package is safe to repeat: it carries the ids of what it makes, and a second run of the same
statement reports the first one's result. So statements run as auto-commit transactions (0.4 ms less than a managed
one) and this room repeats them itself, also where the driver won't: after a commit whose answer was lost.
"""

from __future__ import annotations

import random
import re
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, timedelta
from typing import Any, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j import GraphDatabase
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConstraintError,
    DatabaseError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
)
from neo4j.time import DateTime

from graphstore import queries
from graphstore.errors import InvalidInput, QueryNotice, ServerError, ServerUnavailable
from graphstore.queries import Query

T = TypeVar("T")
Row = dict[str, Any]

SCHEMES = {f"{name}{security}" for name in ("bolt", "neo4j") for security in ("", "+s", "+ssc")}

RETRY_SECONDS = 30.0
"""How long a statement is repeated while the server can't take it."""

RACES = {
    "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
    "Neo.ClientError.Schema.ConstraintAlreadyExists",
    "Neo.ClientError.Statement.EntityNotFound",
}
"""What the server answers when another program came between a statement's look and its act: it made the same index
(``CREATE … IF NOT EXISTS``), or removed what was found before it could be locked. The second look sees it."""

_UNREADABLE = re.compile(r"queryparser\.classic\.(?:ParseException|TokenMgrError):?")
"""What the full-text index answers to a search that its parser, or the lexer before it, can't read."""


class Database:
    """One Neo4j database. Thread-safe; close it when done."""

    def __init__(self, driver: neo4j.Driver, database: str, *, routed: bool = False) -> None:
        self._driver = driver
        self._database = database
        # On a cluster, reads go to followers: bookmarks make them see this process's own writes.
        self._bookmarks = GraphDatabase.bookmark_manager() if routed else None

    @classmethod
    def connect(cls, uri: str, username: str, password: str | None, database: str = "neo4j") -> Database:
        """Connect and check that the server answers.

        Raises ``InvalidInput`` for a malformed URI and ``ServerUnavailable`` when it can't be reached or refuses
        the credentials.
        """
        if uri.partition("://")[0] not in SCHEMES or not _has_port(uri):
            raise InvalidInput(f"{uri!r} is not a Neo4j address; try bolt://host:7687 or neo4j://host:7687")
        auth = None if password is None else (username, password)
        try:
            driver = GraphDatabase.driver(
                uri,
                auth=auth,
                notifications_disabled_classifications=["UNRECOGNIZED"],
                connection_timeout=10,
                keep_alive=True,
            )
        except (ConfigurationError, ValueError) as error:
            raise InvalidInput(f"{uri!r} is not a Neo4j address: {error}; try bolt://host:7687") from None
        try:
            with driver.session(database=database) as session:
                session.run(queries.PING.text).consume()
        except AuthError:
            driver.close()
            raise ServerUnavailable(
                f"the Neo4j server at {uri} refuses user {username!r}; check NEO4J_USERNAME and NEO4J_PASSWORD"
            ) from None
        except (DriverError, Neo4jError) as error:
            driver.close()
            raise ServerUnavailable(
                f"the Neo4j server at {uri} (database {database!r}) can't be reached: {error}; "
                "check that it runs and that the address is right"
            ) from None
        return cls(driver, database, routed=uri.startswith("neo4j"))

    def close(self) -> None:
        """Close every connection."""
        self._driver.close()

    def session(self, access: str, fetch: int = 1000) -> neo4j.Session:
        """A session for reading or writing; use it as a context manager. ``fetch``: so many rows come in one go."""
        return self._driver.session(
            database=self._database,
            default_access_mode=neo4j.READ_ACCESS if access == "read" else neo4j.WRITE_ACCESS,
            bookmark_manager=self._bookmarks,
            fetch_size=fetch,
        )

    def server(self) -> Row:
        """The server's ``name``, ``version`` and ``edition``, asked once and not repeated: does it answer now?

        Raises ``ServerUnavailable`` when it doesn't.
        """
        try:
            with self.session("read") as session:
                record = session.run(queries.SERVER_VERSIONS.text).single(strict=True)
                return dict(record)
        except (DriverError, Neo4jError) as error:
            raise ServerUnavailable(f"the Neo4j server does not answer: {error}; check that it runs") from error

    def rows(self, query: Query, **parameters: Any) -> list[Row]:
        """Run a query and return all its rows."""
        query.check(parameters)

        def run() -> list[Row]:
            with self.session(query.access) as session:
                result = session.run(query.text, parameters)
                keys = result.keys()
                rows = [dict(zip(keys, values, strict=True)) for values in result.values()]
                _warn(query, result.consume())
                return rows

        return self._repeat(run)

    def row(self, query: Query, **parameters: Any) -> Row | None:
        """Run a query that returns at most one row."""
        rows = self.rows(query, **parameters)
        return rows[0] if rows else None

    def stream(self, query: Query, *, fetch: int = 1000, **parameters: Any) -> Iterator[Row]:
        """Run a reading query and give its rows one by one, without holding them all (``fetch`` at most)."""
        query.check(parameters)
        with self.session("read", fetch) as session:
            result = session.run(query.text, parameters)
            keys = result.keys()
            for record in result:
                yield dict(zip(keys, record.values(), strict=True))
            _warn(query, result.consume())

    def transaction(self, work: Callable[[Transaction], T]) -> T:
        """Run several statements as one transaction; ``work`` may run more than once."""

        def run() -> T:
            with self.session("write") as session, session.begin_transaction() as raw:
                outcome = work(Transaction(raw))
                raw.commit()
                return outcome

        return self._repeat(run)

    def _repeat(self, run: Callable[[], T]) -> T:
        deadline = time.monotonic() + RETRY_SECONDS
        pause = 0.02
        lost_ids = 0
        while True:
            try:
                return run()
            except UnicodeEncodeError as error:
                raise InvalidInput(
                    f"{error.object[:80]!r} holds half a character (a lone surrogate), which the database can't store "
                    "in an id or a name; items, titles and metadata may hold it"
                ) from None
            except ConstraintError:
                # Two writers made the same id at once: the second look finds it and compares.
                lost_ids += 1
                if lost_ids > 3:
                    raise
            except (DriverError, Neo4jError) as error:
                raced = isinstance(error, Neo4jError) and error.code in RACES
                if isinstance(error, Neo4jError) and _UNREADABLE.search(error.message or ""):
                    raise InvalidInput(
                        f"the search is not in Lucene's syntax: {_reason(error)}; correct it, or search for plain words"
                    ) from None
                if isinstance(error, DatabaseError):
                    raise ServerError(
                        f"the Neo4j server failed: {error.message}; look at its log, restart it, and repeat the command"
                    ) from error
                if not (isinstance(error, IncompleteCommit) or error.is_retryable() or raced):
                    raise
                if time.monotonic() + pause > deadline:
                    if isinstance(error, ServiceUnavailable | IncompleteCommit):
                        raise ServerUnavailable(
                            f"the Neo4j server did not answer for {RETRY_SECONDS:.0f} s: {error}; what was "
                            "acknowledged is stored, and the last write is safe to repeat"
                        ) from error
                    raise
            time.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 2, 1.0)


def _reason(error: Neo4jError) -> str:
    """What the query parser says, in a line."""
    return _UNREADABLE.split(error.message or "", maxsplit=1)[-1].strip().partition("\n")[0][:200]


def _has_port(uri: str) -> bool:
    """Whether the port of an address, if it names one, can be one (the driver would take 99999 for another)."""
    try:
        return urlsplit(uri).port != 0
    except ValueError:
        return False


def stored_time(text: str) -> DateTime:
    """A time of the server's clock in the driver's own type, which keeps its nanoseconds.

    Raises ``ValueError`` when it is none.
    """
    time = DateTime.from_iso_format(text)
    if time.utcoffset() != timedelta(0):
        raise ValueError(f"{text!r} is not a time in UTC")
    # The zone as that clock writes it: a zone *named* UTC makes another value, later at the same instant.
    return time.replace(tzinfo=UTC)


class Transaction:
    """Several statements that take effect together."""

    def __init__(self, raw: neo4j.Transaction) -> None:
        self._raw = raw

    def rows(self, query: Query, **parameters: Any) -> list[Row]:
        """Run one statement of the transaction."""
        query.check(parameters)
        result = self._raw.run(query.text, parameters)
        keys = result.keys()
        rows = [dict(zip(keys, values, strict=True)) for values in result.values()]
        _warn(query, result.consume())
        return rows


def _warn(query: Query, summary: neo4j.ResultSummary) -> None:
    for notice in summary.gql_status_objects:
        if notice.is_notification and notice.severity == neo4j.NotificationSeverity.WARNING:
            warnings.warn(f"{query.name}: {notice.gql_status} {notice.status_description}", QueryNotice, stacklevel=4)
