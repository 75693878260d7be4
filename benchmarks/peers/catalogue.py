"""The stores by the names that ``--peers`` takes; one whose package is missing is left out, saying so."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from benchmarks.peers.peer import Peer

OURS, OUR_TURNS, PLAIN = "graphstore", "graphstore-turns", "postgres"

_CLASSES = {
    OURS: ("graphstore_peer", "Graphstore"),
    OUR_TURNS: ("graphstore_peer", "GraphstoreTurns"),
    PLAIN: ("plain_postgres", "PlainPostgres"),
    "postgres-best": ("plain_postgres", "PlainPostgresBest"),
    "langgraph-sqlite": ("langgraph_sqlite", "LangGraphSqlite"),
    "langgraph-sqlite-delta": ("langgraph_sqlite", "LangGraphSqliteDelta"),
    "langgraph-postgres": ("langgraph_postgres", "LangGraphPostgres"),
    "langgraph-postgres-delta": ("langgraph_postgres", "LangGraphPostgresDelta"),
    "llm": ("llm_log", "LlmLog"),
    "openai-agents": ("openai_agents", "OpenAIAgents"),
}
KEYS = tuple(_CLASSES)


def find(keys: Sequence[str]) -> tuple[list[type[Peer]], dict[str, str]]:
    """The classes of ``keys`` (``KeyError`` for one there is not), and of those that can't be had the reason."""
    found: list[type[Peer]] = []
    left_out: dict[str, str] = {}
    for key in keys:
        module, name = _CLASSES[key]
        try:
            found.append(getattr(importlib.import_module(f"benchmarks.peers.{module}"), name))
        except ModuleNotFoundError as missing:
            if missing.name is None or missing.name.split(".")[0] in {"benchmarks", "graphstore"}:
                raise
            left_out[key] = f"the module {missing.name!r} is missing; pip install -e '.[peers]'"
    return found, left_out
