// The feedback on the live nodes that a conversation owns, or on one node, in the order it was given.
CALL () {
  MATCH (n:Node {workspace: $workspace, conversation_id: $conversation_id})<-[:ABOUT]-(f:Feedback)
  USING INDEX n:Node(workspace, conversation_id)
  RETURN n, f
  UNION
  MATCH (n:Node {workspace: $workspace, id: $node_id})<-[:ABOUT]-(f:Feedback)
  RETURN n, f
}
WITH n, f
WHERE n.deleted_at IS NULL
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE NOT c.deleting
RETURN f, n.id AS node_id, c.id AS conversation_id
ORDER BY f.created_at, f.id
