"""A conversation store for LLM applications whose conversations are trees, on Neo4j.

from graphstore import GraphStore

with GraphStore.open() as store:
    conversation_id = store.create_conversation(title="Revenue")
    with store.turn(conversation_id) as turn:
        call = turn.call("What was our revenue?", provider="openai", model="gpt-5")
        ...  # send call.context.render("openai-chat") to the model
        call.succeed("It was 4.2 million.")
"""

from graphstore import errors
from graphstore.context import Context, Settings
from graphstore.errors import GraphStoreError
from graphstore.models import (
    Bubble,
    BubblePage,
    CachedResult,
    CachedTool,
    Conversation,
    ConversationSummary,
    Effect,
    EffectStatus,
    Fact,
    Failure,
    Kept,
    Marker,
    Message,
    Move,
    Node,
    NodeKind,
    Reason,
    Reasoning,
    RemovalReceipt,
    SawByUser,
    Spend,
    Status,
    Tombstone,
    ToolCall,
    ToolResult,
    Unpriced,
    UnseenBranch,
    Usage,
    UsageLine,
    UsageReport,
    UsageTable,
)
from graphstore.models_branches import Branch, BranchSummary, Comparison, Difference, Feedback, Label, SearchHit
from graphstore.prices import Prices
from graphstore.rendering import parse, render
from graphstore.store import INHERIT, Call, Conversion, Draft, GraphStore, Recorder, Turn
from graphstore.store.reconstruction import SawByModel
from graphstore.store.tail import Tail

__all__ = [
    "INHERIT",
    "Branch",
    "BranchSummary",
    "Bubble",
    "BubblePage",
    "CachedResult",
    "CachedTool",
    "Call",
    "Comparison",
    "Context",
    "Conversation",
    "ConversationSummary",
    "Conversion",
    "Difference",
    "Draft",
    "Effect",
    "EffectStatus",
    "Fact",
    "Failure",
    "Feedback",
    "GraphStore",
    "GraphStoreError",
    "Kept",
    "Label",
    "Marker",
    "Message",
    "Move",
    "Node",
    "NodeKind",
    "Prices",
    "Reason",
    "Reasoning",
    "Recorder",
    "RemovalReceipt",
    "SawByModel",
    "SawByUser",
    "SearchHit",
    "Settings",
    "Spend",
    "Status",
    "Tail",
    "Tombstone",
    "ToolCall",
    "ToolResult",
    "Turn",
    "Unpriced",
    "UnseenBranch",
    "Usage",
    "UsageLine",
    "UsageReport",
    "UsageTable",
    "errors",
    "parse",
    "render",
]
