"""What routes ask for: the store, and ids out of the path."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request
from pydantic import AfterValidator

from graphstore.api.gate import restored
from graphstore.store import GraphStore
from graphstore.store.conversations import MAX_ID


async def _store(request: Request) -> GraphStore:
    # async although it waits for nothing: a plain function would cost a second thread per request
    store: GraphStore = request.app.state.store
    return store


Store = Annotated[GraphStore, Depends(_store)]

ConversationId = Annotated[
    str,
    Path(description="The conversation's id.", max_length=MAX_ID, examples=["revenue"]),
    AfterValidator(restored),
]

NodeId = Annotated[
    str,
    Path(description="The node's id.", max_length=MAX_ID, examples=["revenue-q1"]),
    AfterValidator(restored),
]
