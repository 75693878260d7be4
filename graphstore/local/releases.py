"""The Neo4j releases that can be run, and the exact jars of each.

Each has a lock file: one jar a line, its coordinate, its SHA-256 and its size in bytes. So an install needs
no resolution of dependencies (352 small files, a minute), gets the same bytes everywhere, and knows how much
is to come. ``python -m graphstore.local.relock VERSION`` writes one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files

from graphstore.errors import LocalServerError

DEFAULT_VERSION = "2026.08.1"


@dataclass(frozen=True)
class Jar:
    """One file of a release: ``coordinate`` is ``group:artifact:version[:classifier]``, ``size`` in bytes."""

    coordinate: str
    sha256: str
    size: int

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """Group, artifact, version and classifier (``""`` for none)."""
        group, artifact, version, *classifier = self.coordinate.split(":")
        return group, artifact, version, classifier[0] if classifier else ""


@dataclass(frozen=True)
class Release:
    """How to run one release: ``java`` is the range of Java versions it takes (``None``: no upper end)."""

    version: str
    main_class: str
    java: tuple[int, int | None]
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def order(self) -> tuple[int, ...]:
        """The version as numbers, to compare two."""
        return version_order(self.version)

    def jars(self) -> list[Jar]:
        """Read the lock file: every jar of the release."""
        text = files("graphstore.local").joinpath(f"locks/neo4j-{self.version}.lock").read_text("ascii")
        rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
        return [Jar(coordinate, sha256, int(size)) for coordinate, sha256, size in rows]


def version_order(version: str) -> tuple[int, ...]:
    """Turn ``"2026.08.1"`` into ``(2026, 8, 1)``. Raises ``ValueError`` when it is no such version."""
    return tuple(int(part) for part in version.split("."))


# Fast to stop: without these, closing the network layer alone takes ten seconds after the data is safe on
# disk.
_QUICK_STOP = {
    "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
    "internal.dbms.bolt.netty_server_shutdown_timeout": "1s",
    "internal.server.bolt.thread_pool_shutdown_wait_time": "1s",
    "internal.server.bolt.connection_shutdown_wait_time": "1s",
}

_RELEASES = {
    "2026.08.1": Release(
        version="2026.08.1",
        main_class="org.neo4j.server.Neo4jCommunity",
        java=(21, None),
        settings={
            "dbms.fleet_manager.enabled": "false",
            "server.fleet_discovery.enabled": "false",
            **_QUICK_STOP,
        },
    ),
}


def find_release(version: str) -> Release:
    """Return the release to run. Raises ``LocalServerError`` when there is none of that version."""
    if version not in _RELEASES:
        raise LocalServerError(
            f"Neo4j {version!r} can't be run as the embedded server; there is "
            f"{', '.join(sorted(_RELEASES))}; for any other version start a server yourself and set NEO4J_URI"
        )
    return _RELEASES[version]
