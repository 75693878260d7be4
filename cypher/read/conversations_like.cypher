// Conversations whose id begins or ends with $part, newest first; at most $limit.
MATCH (c:Conversation {workspace: $workspace})
WHERE NOT c.deleting AND (c.id STARTS WITH $part OR c.id ENDS WITH $part)
RETURN c.id AS id, c.title AS title
ORDER BY c.created_at DESC, c.id DESC LIMIT $limit
