"""A proxy that lets a request reach the server and cuts the connection before its answer comes back."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from urllib.parse import urlsplit


class CuttingProxy:
    """Stands between the driver and the server at ``uri``. ``cut_in(n)``: the n-th answer from now on is lost.

    An answer is one message of the server after a client's one; by the time it comes the request has had its effect.
    """

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 7687)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._left: int | None = None
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> CuttingProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._listener.close()

    def cut_in(self, answers: int | None) -> None:
        """Lose the answer that comes after so many others (0: the next one); ``None``: lose none."""
        with self._lock:
            self._left = answers

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._requests, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answers, args=(client, server), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while request := client.recv(65536):
                server.sendall(request)
        _close(server)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while answer := server.recv(65536):
                with self._lock:
                    lost = self._left == 0
                    if self._left is not None:
                        self._left = None if lost else self._left - 1
                    self.cuts += lost
                if lost:
                    break
                client.sendall(answer)
        _close(client)
        _close(server)


def _close(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
