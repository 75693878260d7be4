"""The program as a process: pipes, signals, encodings, what a terminal is spared."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from graphstore.cli import exits

ROOT = Path(__file__).parents[2]


@pytest.mark.rule("L3")
def test_the_module_is_the_command(environment):
    for arguments, code in ((["--help"], 0), (["ls", "--json"], 0), (["tree", "nothing"], 3)):
        ended = subprocess.run(
            [sys.executable, "-m", "graphstore", *arguments], env=environment, capture_output=True, text=True
        )
        assert ended.returncode == code
        assert "__main__" not in ended.stdout + ended.stderr


@pytest.mark.rule("L3")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["ls"], ["ls", "--json"]])
def test_a_reader_that_leaves_early_is_no_error(program, store, arguments, unbuffered):
    for number in range(300):
        store.create_conversation(title=f"{number} " + "x" * 3000)
    process = program(*arguments, COLUMNS="4000", PYTHONUNBUFFERED=unbuffered)
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(30) == exits.PIPE_CLOSED
    assert process.stderr.read() == b""


@pytest.mark.rule("L3")
def test_ctrl_c_ends_an_import_with_a_sentence_and_what_was_stored_stays(program, store, tmp_path):
    path = tmp_path / "many.jsonl"
    line = json.dumps({"messages": [{"role": "user", "content": "q" * 200}, {"role": "assistant", "content": "a"}]})
    with path.open("w") as out:
        for number in range(60_000):
            out.write(line.replace("qq", f"{number}", 1) + "\n")
    process = program("import", str(path), "--json")
    process.stdout.readline()  # it is under way
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == exits.INTERRUPTED
    assert b"Traceback" not in err
    assert b"Stopped." in err


@pytest.mark.rule("L3")
def test_a_server_that_is_not_there_ends_with_4(program):
    process = program("ls", "--json", NEO4J_URI="bolt://127.0.0.1:1")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (exits.SERVER, b"")
    assert json.loads(err)["error"] == "ServerUnavailable"
    doctor = program("doctor", NEO4J_URI="bolt://127.0.0.1:1")
    out, err = doctor.communicate(timeout=60)
    assert doctor.returncode == exits.FAILED
    assert b"can't be reached" in out
    assert b"Traceback" not in err


@pytest.mark.rule("L3")
def test_a_setting_that_cannot_be_used_is_named(program):
    process = program("ls", GRAPHSTORE_HEAP_MB="plenty")
    _, err = process.communicate(timeout=60)
    assert process.returncode == exits.USAGE
    assert err.startswith(b"error: ")
    assert b"GRAPHSTORE_HEAP_MB='plenty'" in err


@pytest.mark.rule("L3")
def test_an_output_that_knows_only_ascii_gets_an_ascii_drawing(program, store):
    id = store.create_conversation(title="Größe")
    with store.turn(id) as turn:
        turn.call("Wie groß?").succeed("Sehr → 漢字")
    process = program("tree", id, PYTHONIOENCODING="ascii")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out.isascii()
    assert b"* Wie gro" in out
    listed = program("ls", "--json", PYTHONIOENCODING="ascii").communicate(timeout=60)[0]
    assert json.loads(listed)[0]["title"] == "Größe"


@pytest.mark.rule("L3")
def test_colours_reach_a_terminal_and_nothing_else_unless_refused(program, environment, store):
    id = store.create_conversation(title="T")
    with store.turn(id) as turn:
        turn.call("q").succeed("a")
    assert b"\x1b" not in program("tree", id).communicate(timeout=60)[0]
    assert b"\x1b[" in _on_a_terminal(["tree", id], environment)
    plain = _on_a_terminal(["tree", id], {**environment, "NO_COLOR": "1"})
    assert b"\x1b[3" not in plain  # no colour; bold and dim are allowed


def _on_a_terminal(arguments: list[str], environment: dict[str, str]) -> bytes:
    ours, theirs = pty.openpty()
    line = [sys.executable, "-c", "from graphstore.cli import main; main()", *arguments]
    environment = {name: value for name, value in environment.items() if name != "COLUMNS"} | {"TERM": "xterm-256color"}
    with subprocess.Popen(line, env=environment, stdout=theirs, stderr=theirs, stdin=theirs) as process:
        os.close(theirs)
        shown = b""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux says so when the other side has closed
                break
            if not piece:
                break
            shown += piece
        process.wait(30)
    os.close(ours)
    return shown


@pytest.mark.rule("L3")
def test_the_version_is_told(program):
    out, _ = program("--version").communicate(timeout=60)
    assert out.startswith(b"graphstore ")


@pytest.mark.rule("L3")
@pytest.mark.slow
def test_the_wheel_brings_the_demo_and_the_queries(tmp_path):
    line = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(line, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "graphstore/cli/demo/conversations.json" in names
    assert "graphstore/cypher/read/census.cypher" in names
