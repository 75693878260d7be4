"""What the service answers with, beside the store's own models."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from graphstore.api import examples
from graphstore.models import ConversationSummary, Marker, Move, Node, UnseenBranch


class ConversationPage(BaseModel):
    """A page of conversations, newest first."""

    model_config = ConfigDict(json_schema_extra={"example": {"conversations": [examples.SUMMARY], "next": None}})

    conversations: list[ConversationSummary]
    next: str | None = Field(description="What to pass as `after` for the next page; null at the end.")


class NodeList(BaseModel):
    """Nodes, in the order that the route names."""

    model_config = ConfigDict(json_schema_extra={"example": {"nodes": [examples.NODE]}})

    nodes: list[Node]


class MarkerList(BaseModel):
    """One marker for each turn on the path, root first."""

    model_config = ConfigDict(json_schema_extra={"example": {"markers": [examples.MARKER]}})

    markers: list[Marker]


class MoveList(BaseModel):
    """The moves of a cursor, oldest first."""

    model_config = ConfigDict(json_schema_extra={"example": {"moves": [examples.MOVE]}})

    moves: list[Move]


class UnseenBranchList(BaseModel):
    """Branches kept after a lost race and not looked at since."""

    model_config = ConfigDict(json_schema_extra={"example": {"branches": [examples.UNSEEN_BRANCH]}})

    branches: list[UnseenBranch]


class ContextAnswer(BaseModel):
    """A context: what it is made of, and the request to send."""

    model_config = ConfigDict(json_schema_extra={"example": examples.CONTEXT})

    as_: str = Field(alias="as", description="The shape of `request`.")
    hash: str = Field(description="SHA-256 of what is sent: items, system prompt, tools and response format.")
    conversation_id: str | None = Field(description="Whose cursor it was read from; null when a node was named.")
    node_id: str | None = Field(description="The node it ends at; null for an empty conversation.")
    nodes: list[str] = Field(description="The nodes it is made of, root (or readable compaction) first.")
    warnings: list[str] = Field(description="Tool calls and results left out, which shows a defect of the writer.")
    expected: list[str] = Field(description="Tool calls left out because of an overflow, a stop or a lost round.")
    request: dict[str, Any] = Field(description="The keyword arguments of the provider's client, but for the model.")


class Health(BaseModel):
    """The service itself is up."""

    status: Literal["up"] = "up"


class DatabaseServer(BaseModel):
    """The database that answered."""

    name: str
    version: str
    edition: str


class Readiness(BaseModel):
    """The service can answer: its database does."""

    model_config = ConfigDict(json_schema_extra={"example": examples.READINESS})

    status: Literal["ready"] = "ready"
    version: str = Field(description="The version of this service.")
    workspace: str
    database: DatabaseServer
