"""The life of one data folder's server, in order: each test leaves it as the next one finds it.

A start takes seven seconds and more, so the tests share one folder rather than each starting its own server.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from neo4j import GraphDatabase
from typer.testing import CliRunner

import graphstore.local.server
from graphstore.cli.server import app
from graphstore.errors import LocalServerError
from graphstore.local import Endpoint, LocalServer, Silent
from graphstore.local.sockets import free_port

pytestmark = [pytest.mark.rule("L1"), pytest.mark.xdist_group("local")]

ENSURE = """
import json, sys
from pathlib import Path
from graphstore.local import LocalServer
server = LocalServer(Path(sys.argv[1]))
endpoint = server.ensure()
print(json.dumps([server.status().pid, endpoint.uri, endpoint.password]))
"""

DIES_BEFORE_THE_LAUNCH = """
import os, sys
from graphstore.local import process
process.launch = lambda *given: os.kill(os.getpid(), 9)
"""

DIES_AFTER_THE_LAUNCH = """
import os, sys
from graphstore.local import process
launch = process.launch
def launch_and_die(*given):
    print(launch(*given), flush=True)
    os.kill(os.getpid(), 9)
process.launch = launch_and_die
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home with spaces")
    yield home
    LocalServer(home).stop(Silent())


@pytest.fixture
def server(home: Path) -> LocalServer:
    return LocalServer(home)


def run_python(code: str, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(home)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ask(endpoint: Endpoint, query: str) -> list[object]:
    with GraphDatabase.driver(endpoint.uri, auth=(endpoint.username, endpoint.password)) as driver:
        return [record.value() for record in driver.execute_query(query).records]


def test_processes_that_start_it_at_the_same_moment_share_one_server(home: Path, server: LocalServer) -> None:
    # The first of all starters dies when the password is set and nothing runs yet.
    starter = run_python(DIES_BEFORE_THE_LAUNCH + ENSURE, home)
    assert starter.wait(120) == -signal.SIGKILL
    assert not server.status().running

    racers = [run_python(ENSURE, home) for _ in range(4)]
    answers = [racer.communicate(timeout=180) for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 4, answers
    assert len({out for out, _ in answers}) == 1
    assert not any(err for _, err in answers), "nothing is shown where nobody looks"
    pid, uri, password = json.loads(answers[0][0])
    status = server.status()
    assert (status.running, status.answering, status.pid, status.uri) == (True, True, pid, uri)
    assert server.ensure() == Endpoint(uri, "neo4j", password)
    assert ask(server.ensure(), "CREATE (n:Kept {text: 'before'}) RETURN n.text") == ["before"]


def test_status_says_where_it_is(home: Path, server: LocalServer) -> None:
    status = server.status()
    assert status.data_folder == home / "neo4j"
    assert status.version == "2026.08.1"
    assert status.uri == f"bolt://127.0.0.1:{status.port}"
    assert status.since is not None
    assert 0 < time.time() - status.since.timestamp() < 600
    assert status.memory_bytes is not None
    assert status.memory_bytes < 1_000_000_000


def test_it_listens_on_loopback_alone_and_not_for_http(server: LocalServer) -> None:
    pid = server.status().pid
    assert pid is not None
    listening = [each.laddr for each in psutil.Process(pid).net_connections("tcp") if each.status == "LISTEN"]
    assert [(addr.ip.removeprefix("::ffff:"), addr.port) for addr in listening] == [("127.0.0.1", server.status().port)]


@pytest.mark.skipif(os.name != "posix", reason="modes are a matter of POSIX")
def test_the_password_is_the_owners_alone(home: Path, server: LocalServer) -> None:
    folder = home / "neo4j"
    password = server.ensure().password
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "password").stat().st_mode) == 0o600
    assert password not in repr(server.ensure())
    holders = [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and "databases" not in path.parts and password.encode() in path.read_bytes()
    ]
    assert holders == ["password"]


def test_a_server_whose_starter_left_no_note_is_found(home: Path, server: LocalServer) -> None:
    note = home / "neo4j" / "server.json"
    before = server.status()
    note.write_text(json.dumps({**json.loads(note.read_text()), "pid": None}))
    assert not server.status().running
    server.ensure(Silent())
    assert replace(server.status(), memory_bytes=None) == replace(before, memory_bytes=None)


def test_another_process_that_got_the_number_is_not_taken_for_it(home: Path, server: LocalServer) -> None:
    note = home / "neo4j" / "server.json"
    before = server.status().pid
    note.write_text(json.dumps({**json.loads(note.read_text()), "pid": os.getpid()}))
    assert not server.status().running
    server.ensure(Silent())
    assert server.status().pid == before


@pytest.mark.rule("L3")
def test_the_commands_tell_of_the_running_server(
    home: Path, server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHSTORE_HOME", str(home))
    told = json.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)
    assert (told["running"], told["pid"]) == (True, server.status().pid)
    assert json.loads(CliRunner().invoke(app, ["start", "--json"]).stdout)["pid"] == told["pid"]
    assert "Neo4j 2026.08.1 runs." in CliRunner().invoke(app, ["status"]).stdout
    assert "Started." in CliRunner().invoke(app, ["logs", "--lines", "5"]).stdout


def test_a_killed_server_is_started_again_with_its_data(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(server.ensure(), "CREATE (n:Kept {text: 'last'}) RETURN n.text") == ["last"]
    killed = server.status().pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)

    # And the free port of the first try is taken by another program before the server can open it.
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        ports = iter([other.getsockname()[1], free_port()])
        monkeypatch.setattr(graphstore.local.server, "free_port", lambda _rather: next(ports))
        endpoint = server.ensure(Silent())
    assert server.status().pid != killed
    assert sorted(ask(endpoint, "MATCH (n:Kept) RETURN n.text")) == ["before", "last"]


def test_a_killed_server_is_started_again_where_programs_look_for_it(server: LocalServer) -> None:
    before = server.ensure()
    killed = server.status().pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert server.ensure() == before
    assert server.status().pid != killed


def test_a_port_is_had_again_unless_another_program_has_it() -> None:
    port = free_port()
    assert free_port(port) == port
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        assert free_port(port) != port


def test_it_stops_cleanly(server: LocalServer) -> None:
    pid = server.status().pid
    began = time.monotonic()
    assert server.stop(Silent()) is True
    assert time.monotonic() - began < 30
    assert pid is not None
    assert not psutil.pid_exists(pid)
    assert not server.status().running
    assert server.stop(Silent()) is False
    assert any("Stopped." in line for line in server.logs(5))


def test_a_server_that_dies_at_its_start_is_told_with_its_last_words(home: Path) -> None:
    with pytest.raises(LocalServerError, match=r"ended while it was starting.*neo4j\.log") as told:
        LocalServer(home, heap_mb=90_000_000).ensure(Silent())
    assert re.search("heap|memory", str(told.value))


def test_the_server_outlives_a_starter_that_is_killed_at_once(home: Path, server: LocalServer) -> None:
    starter = run_python(DIES_AFTER_THE_LAUNCH + ENSURE, home)
    said, _ = starter.communicate(timeout=120)
    assert starter.returncode == -signal.SIGKILL
    endpoint = server.ensure(Silent())
    assert server.status().pid == int(said)
    assert sorted(ask(endpoint, "MATCH (n:Kept) RETURN n.text")) == ["before", "last"]


@pytest.mark.skipif(os.name != "posix", reason="a stopped process is a matter of POSIX")
def test_a_server_that_does_not_stop_is_killed_and_that_is_said(home: Path) -> None:
    notes: list[str] = []

    class Told(Silent):
        def note(self, message: str) -> None:
            notes.append(message)

    server = LocalServer(home, stop_seconds=1)
    pid = server.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    assert server.stop(Told()) is True
    assert not server.status().running
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    assert "not stopped within 1 seconds and is killed" in notes[0]
