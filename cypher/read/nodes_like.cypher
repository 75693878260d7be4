// Live nodes of a conversation, and of the shared prefix it stands on, whose id begins or ends with $part, oldest
// first; at most $limit.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (c)-[:FORKED_AT]->(at:Node)
WITH c, [x IN [cursor, at] WHERE x IS NOT NULL] AS ends
CALL (c, ends) {
  MATCH (n:Node {workspace: $workspace, conversation_id: c.id})
  RETURN n
  UNION
  UNWIND ends AS leaf
  MATCH (leaf)-[:PARENT|COMPACTS*0..]->(n:Node)
  RETURN n
}
WITH n
WHERE n.deleted_at IS NULL AND (n.id STARTS WITH $part OR n.id ENDS WITH $part)
RETURN n.id AS id, n.kind AS kind
ORDER BY n.created_at, n.id LIMIT $limit
