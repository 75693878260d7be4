"""A Neo4j server of our own: installed, started, shared by processes, and stopped, with nothing but Python.

The server runs as its own process and outlives the one that started it; whoever opens the same folder next
finds it running. Everything about it lies in ``<home>/neo4j``:

    server.lock     held by a process only while it starts or stops the server
    server.json     what runs now: process, port, version (stale after a crash, and noticed)
    store.json      which Neo4j made the data, and whether its password is set
    password        generated, readable by the owner only
    conf data logs  Neo4j's own
"""

from graphstore.local.progress import Progress, Silent, terminal_progress
from graphstore.local.releases import DEFAULT_VERSION
from graphstore.local.server import Endpoint, LocalServer, ServerStatus

__all__ = [
    "DEFAULT_VERSION",
    "Endpoint",
    "LocalServer",
    "Progress",
    "ServerStatus",
    "Silent",
    "terminal_progress",
]
