"""A PostgreSQL server of our own, from the system's packages: started for one run, removed after it."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

import psycopg

SETTINGS = {
    "shared_buffers": "512MB",
    "jit": "off",  # compiling costs more than these queries
    "random_page_cost": "1.1",  # everything is in memory
    "max_wal_size": "4GB",
    "fsync": "on",
}

# A plan made by guessing at the size of a recursion may hash the whole table; the index is always right here.
SESSION = ("SET enable_hashjoin = off", "SET enable_mergejoin = off", "SET work_mem = '64MB'")


Row = tuple[str, str | None, str, str]
"""A call's id, its parent's, and the JSON text of what it sent and returned."""


class PostgresMissing(Exception):
    """No PostgreSQL server program was found."""


def find_programs() -> Path:
    """The folder with ``initdb`` and ``postgres``, the newest release first.

    Raises ``PostgresMissing`` when there is none.
    """
    installed = sorted(
        (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/postgres")),
        key=lambda folder: int(folder.parent.name.split(".")[0]),
        reverse=True,
    )
    on_path = shutil.which("initdb")
    if on_path is not None:
        installed.insert(0, Path(on_path).resolve().parent)
    for folder in installed:
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            return folder
    raise PostgresMissing("neither on PATH nor in /usr/lib/postgresql/*/bin; install the package 'postgresql'")


class Postgres:
    """The server, as a context manager; ``connect()`` gives a connection."""

    def __init__(self) -> None:
        self._programs = find_programs()
        self._folder = Path(tempfile.mkdtemp(prefix="benchmark-postgres-"))
        self._password = secrets.token_hex(16)
        self._port = 0
        self._server: subprocess.Popen[bytes] | None = None
        # PostgreSQL refuses to run as root.
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            user = _other_user()
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(self._folder, user.pw_uid, user.pw_gid)

    def __enter__(self) -> Postgres:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        data, words = self._folder / "data", self._folder / "password"
        words.write_text(self._password)
        if self._as:
            os.chown(words, self._as["user"], self._as["group"])
        initdb = [
            str(self._programs / "initdb"),
            *("-D", str(data), "-U", "benchmark", "-A", "scram-sha-256", f"--pwfile={words}"),
            *("-E", "UTF8", "--locale=C"),
        ]
        subprocess.run(initdb, check=True, capture_output=True, cwd=self._folder, **self._as)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        options = {
            **SETTINGS,
            "listen_addresses": "127.0.0.1",
            "port": str(self._port),
            "unix_socket_directories": str(self._folder),
        }
        command = [str(self._programs / "postgres"), "-D", str(data)]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        with (self._folder / "log").open("wb") as log:
            self._server = server = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder, **self._as)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def connect(self) -> psycopg.Connection[Any]:
        """A new connection over loopback, in autocommit mode."""
        return connect(self.address())

    def address(self) -> dict[str, Any]:
        """What another process needs to ``connect``."""
        return {"host": "127.0.0.1", "port": self._port, "user": "benchmark", "password": self._password}

    def close(self) -> None:
        """Stop the server and remove its data."""
        if self._server is not None and self._server.poll() is None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait(60)
        shutil.rmtree(self._folder, ignore_errors=True)


def connect(address: dict[str, Any]) -> psycopg.Connection[Any]:
    """A new connection, in autocommit mode, with the session's settings."""
    connection = psycopg.connect(**address, dbname="postgres", autocommit=True)
    for statement in SESSION:
        connection.execute(statement)
    return connection


def _other_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise PostgresMissing("PostgreSQL refuses to run as root, and there is neither a user 'postgres' nor 'nobody'")


def create_table(connection: psycopg.Connection[Any], table: str) -> None:
    """One row a call, the parent's id in it."""
    connection.execute(
        f"CREATE TABLE {table} (id uuid PRIMARY KEY, parent_id uuid, sent text NOT NULL, returned text NOT NULL)"
    )


def copy_rows(
    connection: psycopg.Connection[Any], table: str, rows: Iterable[tuple[str, str | None, str, str]]
) -> None:
    """Fill a table, and let the planner know."""
    with connection.cursor().copy(f"COPY {table} (id, parent_id, sent, returned) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def fill(connection: psycopg.Connection[Any], table: str, nodes: int, chain: int, size: int) -> None:
    """Other conversations: ``nodes`` rows in lines of ``chain``."""
    connection.execute(
        f"""
        INSERT INTO {table} (id, parent_id, sent, returned)
        SELECT md5('filler ' || i)::uuid, CASE WHEN i % {chain} > 0 THEN md5('filler ' || (i - 1))::uuid END,
               '["' || repeat('x', {size // 2}) || '"]', '["' || repeat('y', {size // 2}) || '"]'
        FROM generate_series(0, {nodes - 1}) AS i
        """
    )


def settle(connection: psycopg.Connection[Any], table: str) -> None:
    """Statistics for the planner, and the pages' visibility, as autovacuum would leave them."""
    connection.execute(f"VACUUM ANALYZE {table}")
    connection.execute("CHECKPOINT")


class PathReader:
    """The recursive query in its best form: prepared, binary, rows as they come, reversed here."""

    def __init__(self, connection: psycopg.Connection[Any], table: str) -> None:
        self._cursor = connection.cursor(binary=True)
        self._query = f"""
            WITH RECURSIVE up AS (
              SELECT id, parent_id, sent, returned FROM {table} WHERE id = %s
              UNION ALL
              SELECT n.id, n.parent_id, n.sent, n.returned FROM up JOIN {table} n ON n.id = up.parent_id)
            SELECT id, sent, returned FROM up"""

    def rows(self, leaf_id: str) -> list[tuple[Any, str, str]]:
        """The path of a node, root first."""
        rows = self._cursor.execute(self._query, (leaf_id,), prepare=True).fetchall()
        rows.reverse()
        return rows
