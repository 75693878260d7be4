"""Whether the service is up, and whether it can answer."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import APIRouter, Response

from graphstore.api.deps import Store
from graphstore.api.plain import json_response
from graphstore.api.problems import documented
from graphstore.api.views import DatabaseServer, Health, Readiness

router = APIRouter(tags=["running"])


@router.get("/health", response_model=Health)
async def get_health() -> Response:
    """The process answers; the database isn't asked."""
    # async, so that it answers while every thread waits for a database that is away
    return json_response(Health())


@router.get("/ready", response_model=Readiness, responses=documented())
def get_readiness(store: Store) -> Response:
    """The database answers too: asked once, at this moment."""
    server = DatabaseServer.model_validate(store.session.database.server())
    version_here = version("conversation-graphstore")
    return json_response(Readiness(version=version_here, workspace=store.workspace, database=server))
