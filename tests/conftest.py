"""What all tests share."""

from __future__ import annotations

import signal
import uuid
from collections.abc import Callable, Iterator

import pytest
from servers import Choice, Container, choose, started

from graphstore import GraphStore
from graphstore.local import Endpoint

CHOICE = pytest.StashKey[Choice]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the longer proofs")


def pytest_configure(config: pytest.Config) -> None:
    # Started in the background of a script, a run ignores Ctrl-C, and so would every program that it starts and stops.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    choice = config.stash[CHOICE] = choose()
    if isinstance(choice, Container) and config.getoption("numprocesses", None):
        choice.share()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="a longer proof; run with --slow"))


def pytest_report_header(config: pytest.Config) -> str:
    return f"server: {config.stash[CHOICE].words}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.write_line(f"Tested on {config.stash[CHOICE].words}.")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and CHOICE in config.stash:  # the controller cleans up, once
        config.stash[CHOICE].close()


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Endpoint:
    """A Neo4j that answers. Each test works in a workspace of its own, so they share it."""
    return started(request.config.stash[CHOICE], request.session)


@pytest.fixture(scope="session")
def connected(server: Endpoint) -> Iterator[GraphStore]:
    """One connection for the whole run (or one for each worker); tests use ``store``."""
    with GraphStore.connect(server.uri, auth=(server.username, server.password), workspace="tests") as store:
        yield store


@pytest.fixture
def store(connected: GraphStore) -> GraphStore:
    """A store in a workspace of this test's own."""
    return connected.in_workspace(f"test-{uuid.uuid4()}")


@pytest.fixture
def other_store(connected: GraphStore) -> GraphStore:
    """A second workspace on the same server."""
    return connected.in_workspace(f"test-{uuid.uuid4()}")


@pytest.fixture
def new_process_store(connected: GraphStore, store: GraphStore) -> Callable[[], GraphStore]:
    """Make stores of the same workspace that hold nothing, as another process would."""
    return lambda: connected.in_workspace(store.workspace)
