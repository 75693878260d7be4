"""The loopback port: finding one, and asking whether a Neo4j answers on it."""

from __future__ import annotations

import os
import socket

from graphstore.errors import LocalServerError

HOST = "127.0.0.1"

# Bolt's greeting: a magic number, then four versions that we would speak (5.0 to 5.4, 4.4, and two blanks).
_GREETING = bytes.fromhex("6060b017 00040405 00000404 00000000 00000000")


def answers(port: int, timeout: float = 2.0) -> bool:
    """Tell whether a server that speaks Bolt answers on the loopback port."""
    try:
        with socket.create_connection((HOST, port), timeout) as connection:
            connection.sendall(_GREETING)
            return len(connection.recv(4)) == 4
    except OSError:
        return False


def free_port(rather: int | None = None) -> int:
    """Return a loopback port that nobody uses at this moment: ``rather``, if it is free."""
    with socket.socket() as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, rather or 0))
        except OSError:
            return free_port()
        return int(probe.getsockname()[1])


def refuse_taken(port: int) -> None:
    """Raise ``LocalServerError`` when another program listens on ``port``."""
    with socket.socket() as probe:
        if os.name == "posix":  # as the server binds: a closed connection's leftover is no user of the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise LocalServerError(
                f"port {port} of {HOST} can't be used ({error.strerror}): another program has it; stop that "
                "one, or set GRAPHSTORE_BOLT_PORT to another port or to nothing for any free one"
            ) from None
