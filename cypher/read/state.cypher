// What the history path of a conversation's cursor, or of a named node, derived: of each key the nearest node's fact.
OPTIONAL MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (named:Node {workspace: $workspace, id: $node_id})
WITH c, named, CASE WHEN $node_id IS NULL THEN cursor ELSE named END AS leaf
CALL (leaf) {
  MATCH (leaf)-[:PARENT|COMPACTS*0..]->(n:Node)
  RETURN collect(n) AS nodes
}
CALL (nodes) {
  UNWIND range(0, size(nodes) - 1) AS depth
  WITH nodes[depth] AS n, depth
  MATCH (n)-[:DERIVED]->(f:Fact)
  WITH n, f ORDER BY depth
  WITH f.key AS key, head(collect([f, n.id])) AS nearest
  RETURN collect(nearest) AS facts
}
WITH c, named, facts, head(nodes) AS leaf, last(nodes) AS top
RETURN c.id AS conversation_id, named.id AS named_id, facts,
       top IS NULL OR top.is_root OR top:Compaction AS whole, top.id AS top_id, leaf.id AS node_id
