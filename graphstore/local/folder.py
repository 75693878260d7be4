"""The data folder's own papers: what runs in it now, which Neo4j made it, and the password.

Files are replaced whole, so a crash leaves the old one or the new one. All are readable by the owner only.
"""

from __future__ import annotations

import os
import secrets
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from graphstore.errors import LocalServerError
from graphstore.local.releases import Release, version_order


class Running(BaseModel):
    """The server started last; ``pid`` is ``None`` between the choice of a port and the start."""

    model_config = ConfigDict(frozen=True)

    pid: int | None
    port: int
    version: str
    since: datetime


class Made(BaseModel):
    """Which Neo4j made the data, and whether it has once started whole (and so has its password)."""

    model_config = ConfigDict(frozen=True)

    version: str
    initialised: bool


class DataFolder:
    """The folder ``home/neo4j`` and the files in it."""

    def __init__(self, home: Path) -> None:
        self.path = home.expanduser().absolute().resolve() / "neo4j"
        self.conf = self.path / "conf"
        self.data = self.path / "data"
        self.logs = self.path / "logs"
        self.lock = self.path / "server.lock"
        self.console = self.path / "console.log"
        self.neo4j_log = self.logs / "neo4j.log"
        self._running = self.path / "server.json"
        self._made = self.path / "store.json"
        self._password = self.path / "password"

    def prepare(self) -> None:
        """Create the folder, for its owner only. Raises ``LocalServerError`` when it can't be written."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.chmod(0o700)
            self.conf.mkdir(exist_ok=True)
            self.logs.mkdir(exist_ok=True)
            write_private(self.path / "writable", "")
            (self.path / "writable").unlink()
        except OSError as error:
            raise LocalServerError(
                f"the data folder {str(self.path)!r} can't be written ({error.strerror}); make it yours, "
                "or set GRAPHSTORE_HOME to a folder that you can write"
            ) from error

    def running(self) -> Running | None:
        """Read what was started last; a damaged file counts as none."""
        try:
            return Running.model_validate_json(self._running.read_text("utf-8"))
        except (OSError, ValidationError):
            return None

    def record_running(self, running: Running) -> None:
        """Write down what runs."""
        write_private(self._running, running.model_dump_json())

    def forget_running(self) -> None:
        """Nothing runs any more."""
        self._running.unlink(missing_ok=True)

    def made(self) -> Made | None:
        """Read which Neo4j made the data; ``None`` for a new folder."""
        try:
            return Made.model_validate_json(self._made.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            raise LocalServerError(
                f"{str(self._made)!r}, which says which Neo4j made the data beside it, can't be read "
                f"({error}); restore it from a backup, or set GRAPHSTORE_HOME to a new folder"
            ) from error

    def record_made(self, made: Made) -> None:
        """Write down which Neo4j made the data."""
        write_private(self._made, made.model_dump_json())

    def refuse_foreign(self, release: Release) -> None:
        """Raise ``LocalServerError`` when the data was made by a Neo4j that ``release`` can't take over from.

        It can from an older release of the same kind (calendar versions); Neo4j then upgrades the data
        itself.
        """
        made = self.made()
        if made is None:
            if self.data.exists():
                raise LocalServerError(
                    f"{str(self.data)!r} was not made by graphstore (there is no {self._made.name!r} beside "
                    "it), so it is left alone; run its own server and set NEO4J_URI, or set GRAPHSTORE_HOME "
                    "to a new folder"
                )
            return
        try:
            theirs = version_order(made.version)
        except ValueError:
            theirs = (0,)
        if theirs > release.order or (theirs[0] < 2000) != (release.order[0] < 2000):
            raise LocalServerError(
                f"the data in {str(self.path)!r} was made by Neo4j {made.version!r}, and this program runs "
                f"Neo4j {release.version}, which can't open it; use the program that made it (a newer "
                "conversation-graphstore), or set GRAPHSTORE_HOME to a new folder"
            )

    def password(self) -> str:
        """Return the password. Raises ``LocalServerError`` when there is none."""
        try:
            return self._password.read_text("ascii")
        except OSError as error:
            raise LocalServerError(
                f"the password of the server can't be read from {str(self._password)!r} ({error.strerror}); "
                "restore that file (it was made together with the data), or set GRAPHSTORE_HOME to a new "
                "folder"
            ) from error

    def make_password(self) -> str:
        """Return the password, made now if there is none yet."""
        if not self._password.exists():
            write_private(self._password, secrets.token_hex(24))
        return self.password()

    def last_words(self, since: datetime, lines: int) -> list[str]:
        """Return what a server that was started at ``since`` printed and logged last."""
        logged = self.neo4j_log.exists() and self.neo4j_log.stat().st_mtime >= since.timestamp()
        words = tail(self.console, lines) + (tail(self.neo4j_log, lines) if logged else [])
        return [line for line in words if line.strip()]

    def tail(self, lines: int) -> list[str]:
        """Return the last lines of the server's log, or what it printed when it never had a log."""
        log = self.neo4j_log if self.neo4j_log.exists() else self.console
        return tail(log, lines)


def write_private(path: Path, text: str) -> None:
    """Write a file whole or not at all, readable by its owner only."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    beside.unlink(missing_ok=True)
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def tail(path: Path, lines: int) -> list[str]:
    """Return the last ``lines`` lines of a log file; none when it isn't there."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 400 * max(lines, 1) - 4096))
            return file.read().decode("utf-8", "replace").splitlines()[-lines:] if lines > 0 else []
    except FileNotFoundError:
        return []
