// The branches of a conversation that are hidden, newest tombstone first: their first node and how many nodes each hides.
MATCH (n:Node {workspace: $workspace, conversation_id: $conversation_id})
WHERE n.tombstone IS NOT NULL
WITH n.tombstone AS node_id, count(n) AS nodes, max(n.deleted_at) AS deleted_at
RETURN node_id, nodes, deleted_at
ORDER BY deleted_at DESC, node_id
