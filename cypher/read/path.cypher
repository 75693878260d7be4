// The history path of a conversation's cursor, or of a named node, newest first: whole nodes, a compaction always
// followed to its original.
OPTIONAL MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (named:Node {workspace: $workspace, id: $node_id})
WITH c, CASE WHEN $node_id IS NULL THEN cursor ELSE named END AS leaf
OPTIONAL MATCH (leaf)-[:PARENT|COMPACTS*0..]->(n:Node)
WITH c, leaf, collect(n) AS nodes
RETURN c.id AS conversation_id, coalesce(c.deleting, false) AS deleting, nodes
