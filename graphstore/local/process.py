"""The server's process: starting it so that it outlives us, telling it from others, and ending it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil

from graphstore.local.folder import DataFolder, Running, write_private
from graphstore.local.java import java_environment
from graphstore.local.releases import Release
from graphstore.local.sockets import HOST

# What Neo4j reaches into, and what newer Java versions would complain about on every start.
_OPENED = (
    "java.base/java.nio",
    "java.base/java.io",
    "java.base/sun.nio.ch",
    "java.base/java.util.concurrent",
)

_children: dict[int, subprocess.Popen[bytes]] = {}
"""Servers that this process started: kept so that one that ends is waited for, and doesn't stay a zombie."""


def home_flag(folder: DataFolder) -> str:
    """Return the argument by which a server of this folder is known among all processes."""
    return f"--home-dir={folder.path}"


def write_conf(folder: DataFolder, release: Release, port: int, heap_mb: int, page_cache_mb: int) -> None:
    """Write Neo4j's configuration: Bolt on loopback, no HTTP, small files, no calls home."""
    settings = {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"{HOST}:{port}",
        "server.bolt.advertised_address": f"{HOST}:{port}",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "server.memory.heap.initial_size": f"{heap_mb}m",
        "server.memory.heap.max_size": f"{heap_mb}m",
        "server.memory.pagecache.size": f"{page_cache_mb}m",
        "db.tx_log.preallocate": "false",
        "db.store.files.preallocate": "false",
        # Unset, Lucene opens a new reader after every commit, which took 45 % of the server's processor time while
        # calls were recorded. A search waits for the index itself (``await_texts.cypher``), so it misses nothing.
        "db.index.fulltext.eventually_consistent_refresh_interval": "1s",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        **release.settings,
    }
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    (folder.conf / "neo4j.conf").write_text(f"# Written at each start; a change here is lost.\n{text}", "utf-8")


def _quoted(argument: str | Path) -> str:
    escaped = str(argument).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _java_flags(java_version: int) -> list[str]:
    flags = [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED]
    flags.append("--enable-native-access=ALL-UNNAMED")
    if java_version >= 24:
        flags.append("--sun-misc-unsafe-memory-access=allow")
    return flags


def set_password(folder: DataFolder, java: Path, java_version: int, jars: Sequence[Path], password: str) -> None:
    """Give a new store its password. Harmless to repeat. Raises ``subprocess.CalledProcessError``."""
    # In a file of our own, since anybody can read the arguments of a process.
    arguments = folder.conf / "password.args"
    words = [
        *_java_flags(java_version),
        *("-cp", os.pathsep.join(map(str, jars))),
        "org.neo4j.cli.AdminTool",
        *("dbms", "set-initial-password", password),
    ]
    write_private(arguments, "\n".join(map(_quoted, words)))
    environment = {**java_environment(), "NEO4J_HOME": str(folder.path), "NEO4J_CONF": str(folder.conf)}
    try:
        subprocess.run(
            [java, f"@{arguments}"], env=environment, check=True, capture_output=True, text=True, timeout=120
        )
    finally:
        arguments.unlink(missing_ok=True)


def launch(
    folder: DataFolder, release: Release, java: Path, java_version: int, jars: Sequence[Path], heap_mb: int
) -> int:
    """Start the server and return its pid; in a session of its own, so that no end of ours ends it."""
    arguments = folder.conf / "java.args"
    words = [
        *_java_flags(java_version),
        *(f"-Xms{heap_mb}m", f"-Xmx{heap_mb}m"),
        *("-cp", os.pathsep.join(map(str, jars))),
    ]
    arguments.write_text("\n".join(map(_quoted, words)), "utf-8")
    command = [
        str(java),
        f"@{arguments}",
        release.main_class,
        home_flag(folder),
        f"--config-dir={folder.conf}",
    ]
    options: dict[str, Any] = {"start_new_session": True, "umask": 0o077}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    with folder.console.open("wb") as console:
        process: subprocess.Popen[bytes] = subprocess.Popen(
            command,
            cwd=folder.path,
            env=java_environment(),
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            **options,
        )
    _children[process.pid] = process
    return int(process.pid)


def _child_ended(pid: int) -> bool | None:
    """Tell whether the server that we started ended; ``None`` when ``pid`` is none of ours."""
    child = _children.get(pid)
    if child is None:
        return None
    if child.poll() is None:
        return False
    del _children[pid]
    return True


def alive(pid: int, folder: DataFolder) -> bool:
    """Tell whether ``pid`` is a living server of this folder, not another process that got its number."""
    ended = _child_ended(pid)
    if ended is not None:
        return not ended
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and home_flag(folder) in process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def find_running(folder: DataFolder, running: Running | None) -> Running | None:
    """Return the folder's living server, also one whose starter died before it could write its number down.

    Slower than a look at the recorded number: it goes through all processes.
    """
    if running is not None and running.pid is not None and alive(running.pid, folder):
        return running
    flag = home_flag(folder)
    for process in psutil.process_iter(["cmdline"]):
        if flag in (process.info["cmdline"] or ()) and alive(process.pid, folder) and running is not None:
            return running.model_copy(update={"pid": process.pid})
    return None


def end(pid: int, seconds: float, on_late: Callable[[], None]) -> None:
    """Ask the server to stop and wait until it is gone; after ``seconds`` call ``on_late`` and kill it."""
    try:
        server = psutil.Process(pid)
        server.terminate()
        if not _gone(server, seconds):
            on_late()
            server.kill()
            _gone(server, seconds)
    except psutil.NoSuchProcess:
        return


def _gone(server: psutil.Process, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while True:
        ended = _child_ended(server.pid)
        if ended is None:
            # A zombie is gone: its parent, which may be anybody, has only not looked yet.
            ended = not server.is_running() or server.status() == psutil.STATUS_ZOMBIE
        if ended or time.monotonic() > deadline:
            return ended
        time.sleep(0.05)
