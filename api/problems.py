"""Errors as ``application/problem+json`` (RFC 9457), and the one table from the store's errors to statuses."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from graphstore import errors
from graphstore.api.plain import json_text

log = logging.getLogger("graphstore.api")

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True)
class Kind:
    """One kind of problem.

    ``members`` are attributes of the error that the answer carries. ``told`` is what is said instead of the error's own
    message, where that message is for the operator; then the message is logged.
    """

    status: HTTPStatus
    name: str
    title: str
    members: tuple[str, ...] = ()
    told: str | None = None
    retry_after: int | None = None

    @property
    def type(self) -> str:
        """The URI that names this kind for programs."""
        return f"urn:graphstore:problem:{self.name}"


NOT_FOUND = Kind(HTTPStatus.NOT_FOUND, "not-found", "Not found")
INVALID = Kind(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-input", "Invalid input")
INTERNAL = Kind(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "Internal error")
MISDIRECTED = Kind(HTTPStatus.MISDIRECTED_REQUEST, "unknown-host", "Unknown host")
UNAVAILABLE = Kind(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "database-unavailable",
    "Database unavailable",
    told="the database does not answer; what was acknowledged is stored: try again in a moment",
    retry_after=5,
)

TABLE: dict[type[errors.GraphStoreError], Kind] = {
    errors.NotFound: NOT_FOUND,
    errors.ConversationNotFound: Kind(
        HTTPStatus.NOT_FOUND, "conversation-not-found", "No such conversation", ("conversation_id",)
    ),
    errors.NodeNotFound: Kind(HTTPStatus.NOT_FOUND, "node-not-found", "No such node", ("node_id",)),
    errors.Refused: Kind(HTTPStatus.CONFLICT, "refused", "Refused"),
    errors.CursorMoved: Kind(
        HTTPStatus.CONFLICT, "cursor-moved", "The cursor was moved", ("conversation_id", "expected", "cursor", "kept")
    ),
    errors.TurnInProgress: Kind(
        HTTPStatus.LOCKED,
        "turn-in-progress",
        "Another turn is running",
        ("conversation_id", "turn_id", "owner", "expires_at"),
    ),
    errors.TurnLost: Kind(HTTPStatus.CONFLICT, "turn-lost", "The turn was taken over", ("conversation_id", "turn_id")),
    errors.CallInProgress: Kind(
        HTTPStatus.CONFLICT, "call-in-progress", "The turn's last call is pending", ("turn_id", "node_id")
    ),
    errors.RoundTaken: Kind(
        HTTPStatus.CONFLICT, "round-taken", "The turn went on already", ("turn_id", "node_id", "last_id")
    ),
    errors.AlreadySettled: Kind(
        HTTPStatus.CONFLICT, "already-settled", "The call is settled already", ("node_id", "status")
    ),
    errors.IdConflict: Kind(HTTPStatus.CONFLICT, "id-conflict", "The id is taken", ("id",)),
    errors.BehindCompaction: Kind(
        HTTPStatus.CONFLICT, "behind-compaction", "Behind a compaction", ("node_id", "compaction_id")
    ),
    errors.ReasoningMismatch: Kind(
        HTTPStatus.CONFLICT, "reasoning-mismatch", "Reasoning no longer fits", ("nodes", "changes")
    ),
    errors.ConversationGone: Kind(
        HTTPStatus.CONFLICT, "conversation-gone", "Cleared or deleted meanwhile", ("conversation_id",)
    ),
    # The path is damaged or being deleted: the state is at fault, not the request and not this program.
    errors.PayloadMissing: Kind(HTTPStatus.CONFLICT, "payload-missing", "A stored string is missing", ("sha256",)),
    errors.PathBroken: Kind(HTTPStatus.CONFLICT, "path-broken", "The path is not whole", ("node_id", "top_id")),
    errors.CompactionUnreadable: Kind(
        HTTPStatus.CONFLICT, "compaction-unreadable", "Not readable for this reader", ("compaction_id", "readers")
    ),
    errors.InvalidInput: INVALID,
    errors.SourceUnreadable: INVALID,
    errors.ServerUnavailable: UNAVAILABLE,
    errors.LocalServerError: UNAVAILABLE,
}
"""An error not listed here is answered as the nearest class above it that is, or else as an internal error."""


class Problem(BaseModel):
    """The shape of every error (RFC 9457); each kind adds members of its own."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="A URI that names the kind of problem; `about:blank` for plain HTTP errors.")
    title: str = Field(description="The kind in words.")
    status: int = Field(description="The HTTP status.")
    detail: str | None = Field(default=None, description="What is true, and what to do next.")
    instance: str | None = Field(default=None, description="The entry of the service's log.")


def kind_of(error: errors.GraphStoreError) -> Kind | None:
    """The kind under which an error is answered; ``None`` when it is nobody's business but the operator's."""
    return next((TABLE[cls] for cls in type(error).__mro__ if cls in TABLE), None)


def problem(kind: Kind, detail: str, **members: Any) -> Response:
    """The response of one problem."""
    headers = {} if kind.retry_after is None else {"retry-after": str(kind.retry_after)}
    return _response(kind.type, kind.title, kind.status, detail, members, headers)


def _response(
    type_: str, title: str, status: int, detail: str, members: dict[str, Any], headers: dict[str, str]
) -> Response:
    body = {"type": type_, "title": title, "status": int(status), "detail": detail, **members}
    return Response(json_text(body.items()), int(status), headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer every error of the application as a problem."""
    app.add_exception_handler(errors.GraphStoreError, _of_the_store)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_http)


async def _of_the_store(request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.GraphStoreError)
    kind = kind_of(error)
    if kind is None:
        raise error
    if kind.told is not None:
        log.error("%s %r: %s", request.method, request.url.path, error)
    elif isinstance(error, errors.PathBroken | errors.PayloadMissing):
        log.warning("%s %r: %s", request.method, request.url.path, error)
    return problem(kind, kind.told or str(error), **{name: getattr(error, name) for name in kind.members})


async def _of_validation(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # What was sent is not repeated: it may be a secret in the wrong place, or very long.
    faults = [
        {"in": str(fault["loc"][0]), "name": ".".join(map(str, fault["loc"][1:])), "detail": fault["msg"]}
        for fault in error.errors()
    ]
    detail = "; ".join(f"{fault['in']} {fault['name']!r}: {fault['detail']}" for fault in faults)
    return problem(INVALID, detail, errors=faults)


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    detail = str(error.detail)
    if status is HTTPStatus.NOT_FOUND:
        detail = "there is nothing at this address; /docs lists what there is"
    elif status is HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"{request.method} is not possible here; see the Allow header"
    return _response("about:blank", status.phrase, status, detail, {}, dict(error.headers or {}))


def documented(*kinds: type[errors.GraphStoreError]) -> dict[int | str, dict[str, Any]]:
    """OpenAPI responses for what a route may refuse, with those every route may answer."""
    found: dict[int | str, list[Kind]] = {}
    for kind in (*(TABLE[error] for error in kinds), INVALID, UNAVAILABLE):
        found.setdefault(int(kind.status), []).append(kind)
    return {status: _document(of_status) for status, of_status in found.items()}


def _document(kinds: Iterable[Kind]) -> dict[str, Any]:
    kinds = list(kinds)
    examples = {kind.name: {"summary": kind.title, "value": _example(kind)} for kind in kinds}
    content = {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples}
    return {"description": ", or: ".join(kind.title for kind in kinds), "content": {MEDIA_TYPE: content}}


def _example(kind: Kind) -> dict[str, Any]:
    example = {"type": kind.type, "title": kind.title, "status": int(kind.status), "detail": kind.told or "…"}
    return example | dict.fromkeys(kind.members, "…")
