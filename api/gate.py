"""What every request passes before a route sees it."""

from __future__ import annotations

import logging
import uuid
from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphstore.api.problems import INTERNAL, MISDIRECTED, problem

log = logging.getLogger("graphstore.api")

_SLASH = "\x1a"  # stands for a slash inside an id while the path is split; no id can hold it


class EncodedSlashes:
    """Keeps a ``%2F`` of the path apart from the slashes that separate its parts, since ids may hold slashes.

    See ``restored`` for the way back.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        raw: bytes = scope.get("raw_path") or b""
        if scope["type"] == "http" and b"%2f" in raw.lower():
            text = raw.decode("latin-1").replace("%2F", _SLASH).replace("%2f", _SLASH)
            scope = {**scope, "path": unquote(text)}
        await self.app(scope, receive, send)


def restored(part: str) -> str:
    """A part of the path with its own slashes."""
    return part.replace(_SLASH, "/")


class KnownHosts:
    """Answers only requests made to one of ``hosts``, by the ``Host`` header without its port.

    This is what keeps a web page whose name was pointed at this machine (DNS rebinding) from reading the store.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 421."""
        if scope["type"] == "http" and _host(scope) not in self.hosts:
            await problem(MISDIRECTED, "this service answers under the names it was started for only")(
                scope, receive, send
            )
            return
        await self.app(scope, receive, send)


def _host(scope: Scope) -> str:
    raw: bytes = dict(scope["headers"]).get(b"host", b"")
    named = raw.decode("latin-1").lower()
    if named.startswith("["):
        return named[1:].partition("]")[0]
    return named.partition(":")[0]


class Incidents:
    """Turns what nobody foresaw into a problem that says nothing but the number under which it was logged."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; answer 500 if it fails before its answer began."""
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except Exception:
            if scope["type"] != "http" or begun:
                raise
            incident = f"urn:uuid:{uuid.uuid4()}"
            log.exception("%s %r failed (%s)", scope["method"], scope["path"], incident)
            detail = "something failed that should not; the log has it under this instance"
            answer = problem(INTERNAL, detail, instance=incident)
            await answer(scope, receive, send)
