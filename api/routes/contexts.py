"""Contexts, in every rendering."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse

from graphstore import jsontext
from graphstore.api.deps import ConversationId, NodeId, Store
from graphstore.api.problems import documented
from graphstore.api.views import ContextAnswer
from graphstore.context import Context
from graphstore.errors import CompactionUnreadable, ConversationNotFound, NodeNotFound, PathBroken
from graphstore.rendering import FORMATS, render

router = APIRouter(prefix="/v1", tags=["contexts"])

Shape = StrEnum("Shape", {name.replace("-", "_"): name for name in FORMATS})  # type: ignore[misc]
_ITEMS = Shape("items")
_CHUNK = 256 * 1024  # bytes handed to a client at a time, so that a slow one holds the context only once

As = Annotated[Shape, Query(alias="as", description="The provider whose client will send it.")]
Provider = Annotated[
    str | None, Query(max_length=200, description="Compactions this provider can't read are unfolded.")
]
Model = Annotated[str | None, Query(max_length=200, description="Compactions this model can't read are unfolded.")]
IfNoneMatch = Annotated[str | None, Header(description="ETags that the client holds; a match is answered by 304.")]

_ETAG = {"description": "The context's hash, and a digest of the other fields.", "schema": {"type": "string"}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"headers": {"ETag": _ETAG}},
    304: {"description": "The client holds it already.", "headers": {"ETag": _ETAG}},
}


@router.get(
    "/conversations/{conversation_id}/context",
    response_model=ContextAnswer,
    responses={**documented(ConversationNotFound, PathBroken, CompactionUnreadable), **_ANSWERS},
)
def get_context(
    store: Store,
    conversation_id: ConversationId,
    as_: As = _ITEMS,
    for_provider: Provider = None,
    for_model: Model = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """What a call from the conversation's cursor would send: `client.messages.create(model=…, **answer["request"])`."""
    context = store.context(conversation_id, for_provider=for_provider, for_model=for_model)
    return _answer(context, as_, if_none_match)


@router.get(
    "/nodes/{node_id}/context",
    response_model=ContextAnswer,
    responses={**documented(NodeNotFound, PathBroken, CompactionUnreadable), **_ANSWERS},
)
def get_node_context(
    store: Store,
    node_id: NodeId,
    as_: As = _ITEMS,
    for_provider: Provider = None,
    for_model: Model = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """What a call that follows this node would send, whatever branch the node is on."""
    context = store.context(node_id=node_id, for_provider=for_provider, for_model=for_model)
    return _answer(context, as_, if_none_match)


def _answer(context: Context, as_: Shape, if_none_match: str | None) -> Response:
    head = _head(context, as_)
    # The hash alone could be the same for two branches that say the same; their nodes differ.
    etag = f'"{context.hash}.{hashlib.sha256(head).hexdigest()[:12]}"'
    headers = {"etag": etag, "cache-control": "private, no-cache"}
    if _matches(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    body = b"".join((head[:-1], b',"request":', _request(context, as_), b"}"))
    headers["content-length"] = str(len(body))
    return StreamingResponse(_chunks(body), headers=headers, media_type="application/json")


def _head(context: Context, as_: Shape) -> bytes:
    """Everything of the answer but the request, as a JSON object."""
    fields = {
        "as": str(as_),
        "hash": context.hash,
        "conversation_id": context.conversation_id,
        "node_id": context.node_id,
        "nodes": context.nodes,
        "warnings": context.warnings,
        "expected": context.expected,
    }
    return jsontext.dumps(fields).encode()


def _request(context: Context, as_: Shape) -> bytes:
    if as_ is not _ITEMS:
        return jsontext.dumps(context.render(as_)).encode()
    # The items go out as they are stored, unparsed.
    settings = context.settings
    rest = render((), _ITEMS, system=settings.system, tools=settings.tools)
    del rest["items"]
    tail = b"," + jsontext.dumps(rest).encode()[1:] if rest else b"}"
    return b'{"items":' + context.body + tail


def _matches(if_none_match: str | None, etag: str) -> bool:
    if if_none_match is None:
        return False
    held = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in held or etag in held


async def _chunks(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), _CHUNK):
        yield body[start : start + _CHUNK]
