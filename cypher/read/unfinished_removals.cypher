// Conversations of which a deletion or a clear has not removed everything yet.
MATCH (c:Conversation {workspace: $workspace})
WHERE c.id IS NOT NULL AND (c.deleting OR EXISTS { (c)-[:CLEARED]->(:Node) })
RETURN c.id AS conversation_id, c.deleting AS deleting
ORDER BY conversation_id
