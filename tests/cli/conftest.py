"""The program run on the tests' server, in the process or as one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from graphstore import GraphStore
from graphstore.cli import run
from graphstore.local import Endpoint


@dataclass(frozen=True)
class Ended:
    """How a run of the program ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def environment(server: Endpoint, store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables that lead the program to the tests' server and this test's workspace."""
    named = {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "GRAPHSTORE_WORKSPACE": store.workspace,
        "COLUMNS": "100",
        "PYTHONIOENCODING": "utf-8",
    }
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    return {**os.environ, **named}


@pytest.fixture
def cli(environment: dict[str, str], capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Ended]:
    """Run a command in this process."""

    def command(*arguments: str) -> Ended:
        code = run(list(arguments))
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Ended(code, out.decode(), err.decode())

    return command


@pytest.fixture
def program(environment: dict[str, str]) -> Callable[..., subprocess.Popen[bytes]]:
    """Start a command as a process of its own."""

    def start(*arguments: str, **more: str) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-c", "from graphstore.cli import main; main()", *arguments]
        return subprocess.Popen(
            line, env={**environment, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )

    return start
