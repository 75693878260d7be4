// Remove a page of a conversation's moves.
MATCH (:Conversation {workspace: $workspace, id: $conversation_id})-[moved:MOVED]->(m:Move)
WITH moved, m LIMIT $limit
CALL (m) {
  MATCH (m)-[at:FROM|TO]->(:Node)
  DELETE at
}
DELETE moved, m
RETURN count(*) AS deleted
