// A page of the live nodes at and below a node, oldest first, after ($after_at, $after_id); null: from the oldest.
// Those of forks below it are among them.
MATCH (top:Node {workspace: $workspace, id: $node_id})
MATCH (top)<-[:PARENT|COMPACTS*0..]-(n:Node)
WHERE n.deleted_at IS NULL
  AND ($after_at IS NULL OR n.created_at > $after_at OR (n.created_at = $after_at AND n.id > $after_id))
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE NOT c.deleting
WITH n ORDER BY n.created_at, n.id LIMIT $limit
OPTIONAL MATCH (n)-[:PARENT]->(parent:Node)
OPTIONAL MATCH (n)-[:COMPACTS]->(original:Node)
RETURN n, parent.id AS parent_id, original.id AS compacts_id
ORDER BY n.created_at, n.id
