"""The service when its database goes away."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import uvicorn
from fastapi.testclient import TestClient

from graphstore import GraphStore, errors
from graphstore.api import create_app
from graphstore.local import Endpoint


class Wire:
    """A way to the database that can be cut."""

    def __init__(self, to: tuple[str, int]) -> None:
        self._to = to
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # cut
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._to)
                self._ends += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):  # cut
            while some := source.recv(65536):
                target.sendall(some)

    def cut(self) -> None:
        for end in (self._listener, *self._ends):
            with contextlib.suppress(OSError):  # the other side was quicker
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.fixture
def wire(server: Endpoint) -> Iterator[Wire]:
    host, port = server.uri.rpartition("/")[2].split(":")
    wire = Wire((host, int(port)))
    yield wire
    wire.cut()


@pytest.mark.rule("H1", "H3")
def test_it_says_at_once_that_it_is_not_ready_but_up(wire: Wire, server: Endpoint, store: GraphStore):
    address = f"bolt://127.0.0.1:{wire.port}"
    with GraphStore.connect(address, auth=(server.username, server.password), workspace=store.workspace) as through:
        client = TestClient(create_app(through))
        assert client.get("/ready").status_code == 200
        wire.cut()
        begun = time.monotonic()
        answer = client.get("/ready")
        assert time.monotonic() - begun < 5
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:graphstore:problem:database-unavailable")
        assert int(answer.headers["retry-after"]) > 0
        assert str(wire.port) not in answer.text
        assert client.get("/health").status_code == 200


@pytest.mark.rule("H5")
def test_it_is_alive_while_all_its_threads_wait(store: GraphStore, monkeypatch: pytest.MonkeyPatch):
    waiting = threading.Semaphore(0)
    released = threading.Event()

    def wait(conversation_id: str) -> None:
        waiting.release()
        released.wait(30)
        raise errors.ConversationNotFound(conversation_id, store.workspace)

    monkeypatch.setattr(store, "conversation", wait)
    server = uvicorn.Server(uvicorn.Config(create_app(store), log_level="warning"))
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(60) as pool:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        running = pool.submit(server.run, [listening])
        try:
            asked = [pool.submit(httpx.get, f"{url}/v1/conversations/c", timeout=60) for _ in range(50)]
            for _ in range(40):  # as many threads as there are
                assert waiting.acquire(timeout=20)
            assert httpx.get(f"{url}/health", timeout=10).json() == {"status": "up"}
            released.set()
            assert {answer.result().status_code for answer in asked} == {404}
        finally:
            released.set()
            server.should_exit = True
        running.result()
