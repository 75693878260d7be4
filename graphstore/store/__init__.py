"""The verbs: one public ``GraphStore``, standing on one file per subject."""

from graphstore.store.calls import Call
from graphstore.store.conversions import Conversion, Draft
from graphstore.store.derived_state import DerivedState
from graphstore.store.effects import Effects
from graphstore.store.graph_store import GraphStore
from graphstore.store.recording import Recorder
from graphstore.store.settings import INHERIT
from graphstore.store.tool_cache import ToolCache
from graphstore.store.turns import Turn

__all__ = [
    "INHERIT",
    "Call",
    "Conversion",
    "DerivedState",
    "Draft",
    "Effects",
    "GraphStore",
    "Recorder",
    "ToolCache",
    "Turn",
]
