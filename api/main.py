"""The application, put together: routes, problems, and what stands before them."""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from graphstore.api import problems
from graphstore.api.gate import EncodedSlashes, Incidents, KnownHosts
from graphstore.api.routes import contexts, conversations, health, nodes
from graphstore.store import GraphStore

VERSION = version("conversation-graphstore")

DESCRIPTION = """
LLM conversations stored as trees: one call of a model is one node, one cursor per conversation.

Every error is `application/problem+json` (RFC 9457); its `type` names the kind, for programs.
A `/` inside an id is written `%2F`.
"""

TAGS = [
    {"name": "conversations", "description": "Conversations, their path, tree, markers and moves."},
    {"name": "contexts", "description": "What the next call of a model would send, in the shape of its provider."},
    {"name": "nodes", "description": "Single calls of a model."},
    {"name": "running", "description": "Whether the service and its database are up."},
]


def create_app(store: GraphStore, *, hosts: Collection[str] | None = None) -> FastAPI:
    """The service on one store's workspace; whoever opened the store closes it.

    ``hosts`` are the names (of the ``Host`` header, without port) that it answers to; ``None``: any. A service without
    keys that listens on loopback needs them, else a web page could reach it under a name of its own.
    """
    app = FastAPI(
        title="graphstore",
        version=VERSION,
        summary="A conversation store whose conversations are trees.",
        description=DESCRIPTION,
        openapi_tags=TAGS,
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
    )
    app.state.store = store
    for room in (conversations, contexts, nodes, health):
        app.include_router(room.router)
    problems.install(app)
    _describe_problems(app)
    # The last one added sees a request first.
    app.add_middleware(Incidents)
    app.add_middleware(EncodedSlashes)
    if hosts is not None:
        app.add_middleware(KnownHosts, hosts=frozenset(hosts))
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name


def _describe_problems(app: FastAPI) -> None:
    """Put the shape that every problem response refers to into the OpenAPI document."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        document = generate()
        document["components"]["schemas"]["Problem"] = problems.Problem.model_json_schema()
        return document

    app.openapi = openapi  # type: ignore[method-assign]
