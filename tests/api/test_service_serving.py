"""``graphstore serve``: a real process on a real port."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from told import Story

from graphstore import GraphStore
from graphstore.cli import serve as serving
from graphstore.errors import InvalidInput
from graphstore.local import Endpoint

PROGRAM = (sys.executable, "-c", "from graphstore.cli import main; main()", "serve")


@dataclass(frozen=True)
class Served:
    process: subprocess.Popen[str]
    url: str


@pytest.fixture
def served(server: Endpoint, store: GraphStore) -> Iterator[Served]:
    environment = os.environ | {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "GRAPHSTORE_WORKSPACE": store.workspace,
    }
    process = subprocess.Popen([*PROGRAM, "--port", "0"], env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        found = re.search(r"at (http://127\.0\.0\.1:\d+), described at \1/docs", line)
        assert found, line + process.stderr.read()
        yield Served(process, found[1])
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.rule("H1", "L3")
def test_it_answers_on_the_port_it_names(served: Served, story: Story):
    with httpx.Client(base_url=served.url) as client:
        assert client.get("/health").json() == {"status": "up"}
        assert client.get("/ready").json()["status"] == "ready"
        context = client.get(f"/v1/conversations/{story.id}/context?as=anthropic").json()
        assert context["request"]["messages"][-1]["content"] == "About 4 million."
        assert client.get("/docs").status_code == 200


@pytest.mark.rule("H3")
@pytest.mark.parametrize(
    "address", ["/v1/nodes/%00", "/v1/nodes/%ED%A0%80", "/v1/nodes/a%2Fb", "/v1/nodes/" + "x" * 30_000]
)
def test_hostile_ids_get_a_problem_from_the_real_server_too(served: Served, address: str):
    answer = httpx.get(served.url + address)
    assert answer.status_code in (404, 422)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.rule("H4")
def test_a_page_under_another_name_gets_nothing(served: Served, story: Story):
    answer = httpx.get(f"{served.url}/v1/conversations", headers={"host": "evil.example"})
    assert answer.status_code == 421
    assert story.id not in answer.text


@pytest.mark.rule("H5")
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_it_closes_and_says_so(served: Served, told: signal.Signals):
    assert httpx.get(f"{served.url}/health").status_code == 200
    served.process.send_signal(told)
    assert served.process.wait(timeout=20) == 0
    assert served.process.stderr is not None
    rest = served.process.stderr.read()
    assert "stopped" in rest
    assert "Traceback" not in rest
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{served.url}/health")


@pytest.mark.rule("H5")
def test_an_answer_under_way_is_finished_before_it_stops(served: Served, store: GraphStore):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("x" * 20_000_000).succeed("Long.")
    address, port = served.url.removeprefix("http://").split(":")
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)  # so that the answer can't hide in it
        slow.settimeout(20)
        slow.connect((address, int(port)))
        slow.sendall(f"GET /v1/conversations/{conversation_id}/context HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
        got = bytearray(slow.recv(65536))
        served.process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            served.process.wait(timeout=1)
        while chunk := slow.recv(1 << 20):
            got += chunk
    head, _, body = bytes(got).partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    assert length
    assert len(body) == int(length[1]) > 20_000_000
    assert served.process.wait(timeout=20) == 0


@pytest.mark.rule("H4", "L3")
def test_the_program_refuses_another_address_in_a_sentence():
    run = subprocess.run([*PROGRAM, "--host", "0.0.0.0"], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "listens on loopback only" in " ".join(run.stderr.split())
    assert "Traceback" not in run.stderr


@pytest.mark.rule("H4")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com", ""])
def test_it_listens_nowhere_but_on_loopback(host: str):
    with pytest.raises(InvalidInput, match="this service has no keys yet, so it listens on loopback only"):
        serving.serve(host=host)


@pytest.mark.parametrize(("host", "address"), [("localhost", "127.0.0.1"), ("::1", "::1"), ("[::1]", "::1")])
def test_loopback_may_be_named_in_several_ways(host: str, address: str):
    assert serving.loopback(host) == address


@pytest.mark.rule("L3")
def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"port {port}.*choose another port"):
            serving.listener("127.0.0.1", port)


@pytest.mark.rule("L3")
def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(InvalidInput, match=r"needs fastapi.*conversation-graphstore\[api\]"):
        serving.serve()
