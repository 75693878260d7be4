"""Conversations, and what can be read along them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from graphstore.api import examples
from graphstore.api.deps import ConversationId, Store
from graphstore.api.plain import json_response
from graphstore.api.problems import documented
from graphstore.api.views import ConversationPage, MarkerList, MoveList, NodeList, UnseenBranchList
from graphstore.errors import ConversationNotFound
from graphstore.models import Conversation

router = APIRouter(prefix="/v1/conversations", tags=["conversations"], responses=documented(ConversationNotFound))


@router.get("", response_model=ConversationPage, responses=documented())
def list_conversations(
    store: Store,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = 50,
    after: Annotated[
        str | None, Query(max_length=4096, description="The `next` of the page before; it means nothing by itself.")
    ] = None,
) -> Response:
    """A page of conversations, newest first."""
    conversations, following = store.list_conversations(limit=limit, after=after)
    return json_response([("conversations", conversations), ("next", following)])


@router.get(
    "/{conversation_id}",
    response_model=Conversation,
    responses={
        200: {
            "headers": {"ETag": {"description": "The conversation's version.", "schema": {"type": "string"}}},
            "content": {"application/json": {"example": examples.CONVERSATION}},
        }
    },
)
def get_conversation(store: Store, conversation_id: ConversationId) -> Response:
    """One conversation: its cursor, its version (also its ETag), the turn that runs in it, where it was forked.

    The version counts moves of the cursor. It says nothing about a running turn, so this route never answers 304.
    """
    conversation = store.conversation(conversation_id)
    return json_response(conversation, {"etag": f'"{conversation.version}"'})


@router.get("/{conversation_id}/path", response_model=NodeList)
def get_path(store: Store, conversation_id: ConversationId) -> Response:
    """The nodes from the root to the cursor, with their items; compactions don't end it."""
    return json_response([("nodes", store.path(conversation_id))])


@router.get("/{conversation_id}/markers", response_model=MarkerList)
def get_markers(store: Store, conversation_id: ConversationId) -> Response:
    """Where each turn on the path stands among its siblings ("2/3"), and what the arrows beside it switch to."""
    return json_response([("markers", store.markers(conversation_id))])


@router.get("/{conversation_id}/moves", response_model=MoveList)
def get_moves(store: Store, conversation_id: ConversationId) -> Response:
    """Every move of the cursor in order, refused ones too."""
    return json_response([("moves", store.moves(conversation_id))])


@router.get("/{conversation_id}/tree", response_model=NodeList)
def get_tree(store: Store, conversation_id: ConversationId) -> Response:
    """Every live node, and the shared prefix it stands on, oldest first; `parent_id` makes the tree."""
    return json_response([("nodes", store.tree(conversation_id))])


@router.get("/{conversation_id}/unseen-branches", response_model=UnseenBranchList)
def get_unseen_branches(store: Store, conversation_id: ConversationId) -> Response:
    """Branches kept after a lost race, until someone switches to them or dismisses them."""
    return json_response([("branches", store.unseen_branches(conversation_id))])
