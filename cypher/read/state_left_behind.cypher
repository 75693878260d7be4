// The facts written outside too by nodes that a conversation owns and that are off the path to its view end; with
// $node_id only those on the path of that node. Oldest first.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (running:Node {workspace: $workspace, id: c.turn_node_id})
OPTIONAL MATCH (named:Node {workspace: $workspace, id: $node_id})
WITH c, coalesce(running, cursor) AS view_end, named
WITH c,
     COLLECT { MATCH (view_end)-[:PARENT|COMPACTS*0..]->(n:Node) MATCH (n)-[:DERIVED]->(f:Fact) RETURN f.id } AS on_path,
     COLLECT { MATCH (named)-[:PARENT|COMPACTS*0..]->(n:Node) MATCH (n)-[:DERIVED]->(f:Fact) RETURN f.id } AS on_named
MATCH (n:Node {workspace: $workspace, conversation_id: c.id})-[:DERIVED]->(f:Fact)
WHERE f.outside IS NOT NULL AND NOT f.id IN on_path AND ($node_id IS NULL OR f.id IN on_named)
RETURN f AS fact, n.id AS node_id
ORDER BY fact.created_at, fact.id
