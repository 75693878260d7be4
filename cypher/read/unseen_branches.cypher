// The ends of the branches that were written but refused as current, and not looked at since.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})-[unseen:UNSEEN]->(n:Node)
WHERE n.deleted_at IS NULL
RETURN n.id AS node_id, n.turn_id AS turn_id, n.created_at AS created_at, unseen.refused_at AS refused_at
ORDER BY refused_at, node_id
