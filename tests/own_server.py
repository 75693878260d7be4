"""An embedded server of a test's own: to be killed, or to be empty."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from graphstore.local import Endpoint, LocalServer
from graphstore.local.sockets import free_port


@contextmanager
def own_server(home: Path) -> Iterator[tuple[LocalServer, Endpoint]]:
    """A server on a port that stays the same from start to start; killed at the end, its data is not wanted."""
    server = LocalServer(home, heap_mb=384, page_cache_mb=64, port=free_port())
    endpoint = server.ensure()
    try:
        yield server, endpoint
    finally:
        kill(server)


def kill(server: LocalServer) -> None:
    """End the server as a power cut would: kill -9, and wait until it is gone."""
    pid = server.status().pid
    if pid is None:
        return
    process = psutil.Process(pid)
    os.kill(pid, signal.SIGKILL)
    psutil.wait_procs([process], timeout=30)
