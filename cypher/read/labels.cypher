// The labels on the live nodes that a conversation owns, or on one node, in the order they were put there.
CALL () {
  MATCH (n:Node {workspace: $workspace, conversation_id: $conversation_id})<-[:ON]-(l:Label)
  RETURN n, l
  UNION
  MATCH (n:Node {workspace: $workspace, id: $node_id})<-[:ON]-(l:Label)
  RETURN n, l
}
WITH n, l
WHERE n.deleted_at IS NULL
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE NOT c.deleting
RETURN l, n.id AS node_id, c.id AS conversation_id
ORDER BY l.created_at, l.id
