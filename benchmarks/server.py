"""The embedded Neo4j in a home of its own, and filling it quickly."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from neo4j import READ_ACCESS, Driver, GraphDatabase

from benchmarks.data import Call, Line
from graphstore import items
from graphstore.database import Database
from graphstore.local import Endpoint, LocalServer
from graphstore.models import NodeKind
from graphstore.store import GraphStore
from graphstore.store.held import HeldContexts
from graphstore.store.session import DEFAULT_HELD_BYTES, Session
from graphstore.store.writing import lightened, sent_properties, succeeded_properties

BATCH = 10_000
FILL_AT_ONCE = 50  # conversations a transaction: the small heap takes no more


class Neo4j:
    """The server and a driver, as a context manager; stopped at the end, its data removed unless ``home`` was given."""

    def __init__(self, home: Path | None, name: str, heap_mb: int, page_cache_mb: int) -> None:
        self._temporary = home is None
        self._home = Path(tempfile.mkdtemp(prefix="benchmark-neo4j-")) if home is None else home / name
        self._server = LocalServer(self._home, heap_mb=heap_mb, page_cache_mb=page_cache_mb)
        self.endpoint: Endpoint
        self.driver: Driver

    def __enter__(self) -> Neo4j:
        try:
            self._start()
        except BaseException:
            self._remove()
            raise
        return self

    def _start(self) -> None:
        self.endpoint = self._server.ensure()
        self.driver = GraphDatabase.driver(
            self.endpoint.uri,
            auth=(self.endpoint.username, self.endpoint.password),
            notifications_disabled_classifications=["UNRECOGNIZED"],  # as the store's own connections
        )

    def bytes_at_rest(self) -> int:
        """The size of the database's files without its transaction logs, of the stopped server; starts it again."""
        self.driver.close()
        self._server.stop()
        data = self._server.status().data_folder / "data" / "databases"
        size = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
        self._start()
        return size

    def bytes_logged(self) -> int:
        """The size of the transaction logs, which grow by what each write puts there (nothing is allocated ahead)."""
        logs = self._server.status().data_folder / "data" / "transactions"
        return sum(path.stat().st_size for path in logs.rglob("*") if path.is_file())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.driver.close()
        self._remove()

    def _remove(self) -> None:
        self._server.stop()
        if self._temporary:
            shutil.rmtree(self._home, ignore_errors=True)

    def store(self, workspace: str, database: type[Database] = Database) -> GraphStore:
        """The store, with its schema; holds contexts as by default."""
        GraphStore.connect(self.endpoint.uri, auth=(self.endpoint.username, self.endpoint.password)).close()
        connected = database.connect(self.endpoint.uri, self.endpoint.username, self.endpoint.password)
        return GraphStore(Session(connected, workspace))

    def run(self, query: str, **parameters: Any) -> list[list[Any]]:
        """Run a statement and give its rows."""
        with self.driver.session(database="neo4j") as session:
            return session.run(query, parameters).values()

    def read(self, query: str, **parameters: Any) -> list[list[Any]]:
        """As ``run``, told to be a read."""
        with self.driver.session(database="neo4j", default_access_mode=READ_ACCESS) as session:
            return session.run(query, parameters).values()

    def version(self) -> str:
        """The server's version."""
        return str(self.run("CALL dbms.components() YIELD versions RETURN versions[0]")[0][0])


def hold_nothing(store: GraphStore) -> None:
    """Let go of every held context, as in a process that has just begun."""
    store.session.held = HeldContexts(DEFAULT_HELD_BYTES)


def load_line(neo4j: Neo4j, store: GraphStore, line: Line, tick: Callable[[], object] = lambda: None) -> None:
    """Write a conversation with all the properties that a store's own calls have, and put the cursor at its end."""
    store.create_conversation(id=line.conversation_id)
    load_calls(neo4j, store, line.conversation_id, line.calls, tick)
    neo4j.run(
        _CURSOR,
        workspace=store.workspace,
        conversation_id=line.conversation_id,
        root_id=line.calls[0].id,
        leaf_id=line.leaf.id,
    )


def load_calls(
    neo4j: Neo4j,
    store: GraphStore,
    conversation_id: str,
    calls: Sequence[Call],
    tick: Callable[[], object] = lambda: None,
) -> None:
    """Write calls of a conversation, each a turn of its own, parents before children; a root is not yet linked."""
    for start in range(0, len(calls), BATCH):
        rows = []
        for call in calls[start : start + BATCH]:
            sent = items.encode(call.sent.encode(), role="user")
            properties = sent_properties(
                workspace=store.workspace,
                conversation_id=conversation_id,
                node_id=call.id,
                kind=NodeKind.TURN,
                turn_id=call.id,
                round=0,
                is_root=call.parent_id is None,
                sent=sent,
                settings={},
                context_hash="0" * 64,
                provider="openai",
                model="gpt-5",
            )
            returned = items.encode(call.returned.encode(), role="assistant")
            usage = {"input_tokens": 1000, "output_tokens": 200}
            node = {**properties, **succeeded_properties(sent, returned, usage, "stop")}
            rows.append(lightened(store.session, node)[0])  # the strings here are too short to be stored apart
        neo4j.run(_NODES, rows=rows)
        tick()
    edges = [{"child": call.id, "parent": call.parent_id} for call in calls if call.parent_id is not None]
    load_edges(neo4j, store.workspace, edges)


def load_beside(neo4j: Neo4j, store: GraphStore, conversation_id: str, calls: Sequence[Call]) -> None:
    """Write more calls of a conversation that is there; those without a parent begin it anew."""
    load_calls(neo4j, store, conversation_id, calls)
    roots = [call.id for call in calls if call.parent_id is None]
    neo4j.run(_ROOTS, workspace=store.workspace, conversation_id=conversation_id, roots=roots)


def load_edges(neo4j: Neo4j, workspace: str, edges: Sequence[dict[str, Any]]) -> None:
    """Write parent edges in batches."""
    for start in range(0, len(edges), BATCH):
        neo4j.run(_EDGES, workspace=workspace, edges=edges[start : start + BATCH])


def fill(neo4j: Neo4j, nodes: int, chain: int, size: int, tick: Callable[[int], object]) -> None:
    """Other conversations, ``nodes`` nodes in lines of ``chain``, made in the server.

    Each line has a sibling at its end.
    """
    conversations = max(nodes // chain, 1)
    for start in range(0, conversations, FILL_AT_ONCE):
        stop = min(start + FILL_AT_ONCE, conversations)
        neo4j.run(_FILL, first=start, last=stop - 1, chain=chain, half=size // 2)
        tick((stop - start) * chain)


_NODES = """
UNWIND $rows AS row
CREATE (n:Node) SET n = row, n.created_at = datetime.realtime(), n.finished_at = datetime.realtime()
"""

_EDGES = """
UNWIND $edges AS edge
MATCH (child:Node {workspace: $workspace, id: edge.child})
MATCH (parent:Node {workspace: $workspace, id: edge.parent})
CREATE (child)-[:PARENT {workspace: $workspace, child_id: edge.child}]->(parent)
"""

_CURSOR = """
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
MATCH (root:Node {workspace: $workspace, id: $root_id})
MATCH (leaf:Node {workspace: $workspace, id: $leaf_id})
CREATE (c)-[:STARTS]->(root)
CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: $conversation_id}]->(leaf)
"""

_ROOTS = """
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
UNWIND $roots AS id
MATCH (root:Node {workspace: $workspace, id: id})
CREATE (c)-[:STARTS]->(root)
"""

_FILL = """
UNWIND range($first, $last) AS k
CREATE (c:Conversation {workspace: 'filler', id: 'filler-' + k, metadata: '{}', created_at: datetime(),
                        updated_at: datetime(), version: 1, epoch: 0, moves: 0, removals: 0, deleting: false,
                        compacted: false})
WITH c, k, '["' + left(reduce(s = '', x IN range(0, $half / 36) | s + randomUUID()), $half - 4) + '"]' AS text
CALL (c, k, text) {
  UNWIND range(0, $chain - 1) AS i
  CREATE (n:Node {workspace: 'filler', id: randomUUID(), conversation_id: c.id, kind: 'turn', status: 'succeeded',
                  turn_id: 'turn-' + k + '-' + i, round: 0, is_root: i = 0, author: 'model',
                  sent: text, sent_hash: 'hash-' + k + '-' + i, provider: 'openai',
                  model: 'gpt-5', returned: text, created_at: datetime(),
                  finished_at: datetime()})
  WITH c, collect(n) AS nodes
  CALL (nodes) {
    UNWIND range(1, size(nodes) - 1) AS i
    WITH nodes[i] AS child, nodes[CASE WHEN i = size(nodes) - 1 THEN i - 2 ELSE i - 1 END] AS parent
    WHERE parent IS NOT NULL
    CREATE (child)-[:PARENT {workspace: 'filler', child_id: child.id}]->(parent)
  }
  WITH c, nodes[0] AS root, nodes[-1] AS leaf
  CREATE (c)-[:STARTS]->(root)
  CREATE (c)-[:CURSOR {workspace: 'filler', conversation_id: c.id}]->(leaf)
}
"""
