// A page of the labels of one name on live nodes, newest first, after ($after_at, $after_id); null: from the newest.
MATCH (l:Label {workspace: $workspace, name: $name})
WHERE l.created_at IS NOT NULL
  AND ($after_at IS NULL OR l.created_at < $after_at OR (l.created_at = $after_at AND l.id < $after_id))
MATCH (l)-[:ON]->(n:Node)
WHERE n.deleted_at IS NULL
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE NOT c.deleting
RETURN l, n.id AS node_id, c.id AS conversation_id
ORDER BY l.created_at DESC, l.id DESC LIMIT $limit
