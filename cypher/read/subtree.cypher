// A page of the ids of the live nodes at and below a node, oldest first, after ($after_at, $after_id); null: from the oldest.
// Those of forks below it are among them.
MATCH (top:Node {workspace: $workspace, id: $node_id})
MATCH (top)<-[:PARENT|COMPACTS*0..]-(n:Node)
WHERE n.deleted_at IS NULL
  AND ($after_at IS NULL OR n.created_at > $after_at OR (n.created_at = $after_at AND n.id > $after_id))
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE NOT c.deleting
RETURN n.id AS id, n.created_at AS created_at
ORDER BY n.created_at, n.id LIMIT $limit
