"""``graphstore serve``: the HTTP service, on this machine only."""

from __future__ import annotations

import importlib.util
import ipaddress
import signal
import socket
from typing import TYPE_CHECKING, Annotated

import typer

from graphstore.cli.opening import opened
from graphstore.cli.options import Workspace
from graphstore.errors import InvalidInput
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from fastapi import FastAPI

DEFAULT_PORT = 8750
GRACE_SECONDS = 30
"""How long requests under way may still take once the service is told to stop."""


def serve(
    host: Annotated[str, typer.Option(help="The loopback address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any free one.")] = DEFAULT_PORT,
    workspace: Workspace = None,
) -> None:
    """Serve one workspace over HTTP, to programs on this machine, until Ctrl-C."""
    address = loopback(host)
    _needs_api()
    with listener(address, port) as sock, opened(workspace) as store:
        _run(store, sock)


def loopback(host: str) -> str:
    """The loopback address that ``host`` names.

    Raises ``InvalidInput`` for any other: whoever reaches the service may read everything in it.
    """
    named = "127.0.0.1" if host == "localhost" else host.strip("[]")
    if _is_loopback(named):
        return named
    raise InvalidInput(
        f"can't listen on {host!r}: this service has no keys yet, so it listens on loopback only; "
        "use 127.0.0.1, ::1 or localhost, and an SSH tunnel to reach it from elsewhere"
    )


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def listener(address: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises ``InvalidInput`` when the port can't be had.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, port), family=family)
    except OSError as error:
        raise InvalidInput(
            f"can't listen on {address} port {port}: {error.strerror}; choose another port, or --port 0 for a free one"
        ) from None


def url_of(sock: socket.socket) -> str:
    """Where a client finds the service."""
    address, port = sock.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def _needs_api() -> None:
    missing = [name for name in ("fastapi", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise InvalidInput(
            f"the service needs {' and '.join(missing)}, which this installation doesn't have; "
            "install it with: pip install 'conversation-graphstore[api]'"
        )


def _run(store: GraphStore, sock: socket.socket) -> None:
    # imported here: the other commands work without the extra, and start faster
    from graphstore.api import create_app

    hosts = {"localhost", sock.getsockname()[0]}
    typer.echo(f"workspace {store.workspace!r} at {url_of(sock)}, described at {url_of(sock)}/docs", err=True)
    _until_stopped(create_app(store, hosts=hosts), sock)


def _until_stopped(app: FastAPI, sock: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", server_header=False, timeout_graceful_shutdown=GRACE_SECONDS)
    # uvicorn stops on a signal and then raises it again; as KeyboardInterrupt it reaches the lines that close the store
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        uvicorn.Server(config).run(sockets=[sock])
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)
