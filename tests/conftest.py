"""What all tests share."""

from __future__ import annotations

import pytest
from servers import Choice, Container, choose, started

from graphstore.local import Endpoint

CHOICE = pytest.StashKey[Choice]()


def pytest_configure(config: pytest.Config) -> None:
    choice = config.stash[CHOICE] = choose()
    if isinstance(choice, Container) and config.getoption("numprocesses", None):
        choice.share()


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
