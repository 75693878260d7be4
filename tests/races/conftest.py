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
    processes = request.getfixturevalue("racing_processes") if request.param == "processes" else None
    return Race(store, processes, *_marked(request, "racers"))


@pytest.fixture
def rounds(request: pytest.FixtureRequest, race: Race) -> int:
    """How often a race is run: processes do what the test's marker ``rounds`` asks for, threads a part of it."""
    if request.config.getoption("slow", False):
        return 600
    asked = _marked(request, "rounds")
    return asked[0] if asked and race.processes else 12


def _marked(request: pytest.FixtureRequest, name: str) -> tuple[int, ...]:
    marker = request.node.get_closest_marker(name)
    return marker.args if marker else ()
