// The summaries attached to branches that begin at live nodes of a conversation, oldest first.
MATCH (n:Node {workspace: $workspace, conversation_id: $conversation_id})<-[:SUMMARIZES]-(s:Summary)
USING INDEX n:Node(workspace, conversation_id)
WHERE n.deleted_at IS NULL
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE NOT c.deleting
RETURN s, n.id AS node_id
ORDER BY s.created_at, s.id
