"""Single nodes."""

from __future__ import annotations

from fastapi import APIRouter, Response

from graphstore.api import examples
from graphstore.api.deps import NodeId, Store
from graphstore.api.plain import json_response
from graphstore.api.problems import documented
from graphstore.errors import NodeNotFound
from graphstore.models import Node

router = APIRouter(prefix="/v1/nodes", tags=["nodes"], responses=documented(NodeNotFound))


@router.get(
    "/{node_id}",
    response_model=Node,
    responses={200: {"content": {"application/json": {"example": examples.NODE}}}},
)
def get_node(store: Store, node_id: NodeId) -> Response:
    """One call of a model: what it newly sent, what it returned, its status, usage and settings."""
    return json_response(store.node(node_id))
