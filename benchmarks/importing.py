"""Importing an export, against a bare UNWIND of the very rows that the import wrote."""

from __future__ import annotations

import gc
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import targets
from benchmarks.data import Prose
from benchmarks.server import BATCH, Neo4j
from benchmarks.timing import Figure
from graphstore.fingerprint import new_id

TURNS = 20
TEXT = 500


def write_export(path: Path, nodes: int) -> int:
    """A ChatGPT export whose conversations hold ``nodes`` calls in all; returns how many it really holds.

    Every conversation is a line of questions and answers with one regenerated answer on the way.
    """
    prose = Prose()
    chance = random.Random(1)
    texts = [prose.characters(TEXT) for _ in range(500)]
    calls = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while calls < nodes:
            conversation, more = _conversation(chance, texts)
            file.write(("," if calls else "") + json.dumps(conversation))
            calls += more
        file.write("]")
    return calls


def _conversation(chance: random.Random, texts: list[str]) -> tuple[dict[str, Any], int]:
    root = new_id()
    mapping: dict[str, Any] = {root: {"id": root, "message": None, "parent": None, "children": []}}
    at, clock = root, 1_700_000_000.0
    again = chance.randrange(TURNS)

    def add(parent: str, role: str) -> str:
        nonlocal clock
        clock += 1
        id = new_id()
        message = {
            "id": id,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": clock,
            "update_time": None,
            "content": {"content_type": "text", "parts": [f"{clock} {chance.choice(texts)}"]},
            "status": "finished_successfully",
            "end_turn": role == "assistant",
            "weight": 1.0,
            "metadata": {"model_slug": "gpt-5"} if role == "assistant" else {},
            "recipient": "all",
            "channel": None,
        }
        mapping[id] = {"id": id, "message": message, "parent": parent, "children": []}
        mapping[parent]["children"].append(id)
        return id

    for turn in range(TURNS):
        question = add(at, "user")
        if turn == again:
            add(question, "assistant")
        at = add(question, "assistant")
    id = new_id()
    return {
        "title": f"Conversation {id[-6:]}",
        "create_time": clock,
        "update_time": clock,
        "mapping": mapping,
        "current_node": at,
        "conversation_id": id,
        "id": id,
        "default_model_slug": "gpt-5",
    }, TURNS + 1


def measure(
    neo4j: Neo4j, folder: Path, nodes: int, repetitions: int, tick: Callable[[str], object]
) -> tuple[list[Figure], int]:
    """Import and bare UNWIND in turns, each time into a workspace of its own; figures in nodes per second.

    A first small round of each warms the server up and doesn't count. Also gives the size of the export in bytes.
    """
    warm = folder / "warm.json"
    write_export(warm, max(nodes // 10, TURNS))
    rows = _imported_rows(neo4j, _import(neo4j, warm)[1])
    _unwind(neo4j, rows)
    export = folder / "conversations.json"
    written = write_export(export, nodes)
    imports: list[float] = []
    unwinds: list[float] = []
    for _ in range(repetitions):
        seconds, workspace = _import(neo4j, export)
        rows = _imported_rows(neo4j, workspace)
        assert len(rows) == written, (len(rows), written)
        imports.append(written / seconds)
        tick(targets.IMPORT)
        unwinds.append(written / _unwind(neo4j, rows))
        tick(targets.IMPORT)
        gc.collect()
    figures = [
        Figure(targets.IMPORT, "import_file", imports, "nodes/s"),
        Figure(targets.IMPORT, "bare UNWIND", unwinds, "nodes/s"),
    ]
    return figures, export.stat().st_size


def _import(neo4j: Neo4j, export: Path) -> tuple[float, str]:
    workspace = f"import-{new_id()}"
    with neo4j.store(workspace) as store:
        start = time.perf_counter()
        outcomes = list(store.import_file(export))
        seconds = time.perf_counter() - start
    assert not any(outcome.skipped for outcome in outcomes)
    return seconds, workspace


def _imported_rows(neo4j: Neo4j, workspace: str) -> list[dict[str, Any]]:
    """What the import wrote: every property of every node, and its parent, parents first."""
    found = neo4j.read(
        "MATCH (n:Node {workspace: $workspace}) OPTIONAL MATCH (n)-[:PARENT]->(p)"
        " RETURN properties(n), p.id ORDER BY n.conversation_id, n.created_at, n.id",
        workspace=workspace,
    )
    other = f"bare-{new_id()}"
    return [{"node": {**properties, "workspace": other}, "parent_id": parent} for properties, parent in found]


def _unwind(neo4j: Neo4j, rows: list[dict[str, Any]]) -> float:
    """Nodes, then parent edges, in batches; the seconds it took."""
    workspace = rows[0]["node"]["workspace"]
    start = time.perf_counter()
    for first in range(0, len(rows), BATCH):
        neo4j.run("UNWIND $rows AS row CREATE (n:Node) SET n = row.node", rows=rows[first : first + BATCH])
    edges = [{"child": row["node"]["id"], "parent": row["parent_id"]} for row in rows if row["parent_id"] is not None]
    for first in range(0, len(edges), BATCH):
        neo4j.run(
            "UNWIND $edges AS edge MATCH (child:Node {workspace: $workspace, id: edge.child})"
            " MATCH (parent:Node {workspace: $workspace, id: edge.parent})"
            " CREATE (child)-[:PARENT {workspace: $workspace, child_id: edge.child}]->(parent)",
            workspace=workspace,
            edges=edges[first : first + BATCH],
        )
    return time.perf_counter() - start
