"""What must hold of all that is stored in a workspace, whoever was killed while writing; looked up below the verbs."""

from __future__ import annotations

from racing import value

from graphstore import GraphStore

CHECKS = {
    "a node that is no root and hangs on nothing, on two nodes, or a root that hangs on one": """
        MATCH (n:Node {workspace: $workspace})
        WITH n, COUNT { (n)-[:PARENT|COMPACTS]->(:Node) } AS above
        WHERE above <> CASE WHEN n.is_root THEN 0 ELSE 1 END
        RETURN collect(n.id)""",
    "a node whose conversation is not there": """
        MATCH (n:Node {workspace: $workspace})
        WHERE NOT EXISTS { MATCH (:Conversation {workspace: $workspace, id: n.conversation_id}) }
        RETURN collect(n.id)""",
    "a root that its conversation does not start with": """
        MATCH (n:Node {workspace: $workspace, is_root: true})
        WHERE n.kind = 'turn' AND COUNT { (:Conversation)-[:STARTS|CLEARED]->(n) } <> 1
        RETURN collect(n.id)""",
    "an unsettled call that has an answer, or a succeeded one that has none": """
        MATCH (n:Node {workspace: $workspace})
        WHERE (n.status = 'succeeded') <> (n.returned IS NOT NULL)
        RETURN collect(n.id)""",
    "moves that are not numbered from one on without a gap": """
        MATCH (c:Conversation {workspace: $workspace})
        WHERE NOT c.deleting
        WITH c, COLLECT { MATCH (c)-[:MOVED]->(m:Move) RETURN m.seq ORDER BY m.seq } AS numbers
        WHERE numbers <> range(1, c.moves)
        RETURN collect(c.id)""",
    "a cursor that is not where the last accepted move put it": """
        MATCH (c:Conversation {workspace: $workspace})
        WHERE NOT c.deleting
        WITH c, COLLECT { MATCH (c)-[:CURSOR]->(n:Node) RETURN n.id } AS cursors,
             COLLECT { MATCH (c)-[:MOVED]->(m:Move {accepted: true})
                       OPTIONAL MATCH (m)-[:TO]->(n:Node)
                       RETURN coalesce(n.id, '') ORDER BY m.seq DESC LIMIT 1 } AS last
        WHERE cursors <> [id IN last WHERE id <> '']
        RETURN collect(c.id)""",
    "a version that is not the number of accepted moves": """
        MATCH (c:Conversation {workspace: $workspace})
        WHERE NOT c.deleting AND c.version <> COUNT { (c)-[:MOVED]->(:Move {accepted: true}) }
        RETURN collect(c.id)""",
    "a running turn that names no pending or settled call of its own": """
        MATCH (c:Conversation {workspace: $workspace})
        WHERE c.turn_id IS NOT NULL AND NOT c.deleting
          AND NOT EXISTS { MATCH (n:Node {workspace: $workspace, id: c.turn_node_id}) WHERE n.turn_id = c.turn_id }
        RETURN collect(c.id)""",
    "a path that does not end at a root": """
        MATCH (c:Conversation {workspace: $workspace})-[:CURSOR]->(leaf:Node)
        WHERE NOT c.deleting AND NOT EXISTS { (leaf)-[:PARENT|COMPACTS*0..]->(:Node {is_root: true}) }
        RETURN collect(c.id)""",
}


def disagreements(store: GraphStore) -> dict[str, list[str]]:
    """What is wrong → the ids of it; empty when all is well."""
    found = {what: value(store, f"{query} AS ids") for what, query in CHECKS.items()}
    return {what: ids for what, ids in found.items() if ids}
