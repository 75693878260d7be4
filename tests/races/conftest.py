"""What the races share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from racing import Race, RacingProcesses

from graphstore import GraphStore
from graphstore.local import Endpoint


@pytest.fixture(scope="session")
def racing_processes(server: Endpoint) -> Iterator[RacingProcesses]:
    processes = RacingProcesses(server)
    yield processes
    processes.close()


@pytest.fixture(params=["threads", "processes"])
def race(request: pytest.FixtureRequest, store: GraphStore) -> Race:
    """A race of threads that share one store, then the same race of processes."""
    return Race(store, request.getfixturevalue("racing_processes") if request.param == "processes" else None)


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    """How often a race is run."""
    return 250 if request.config.getoption("slow", False) else 12
