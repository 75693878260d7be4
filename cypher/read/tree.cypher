// Every live node a conversation owns and the shared prefix it stands on, oldest first.
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
WITH n WHERE n.deleted_at IS NULL
OPTIONAL MATCH (n)-[up:PARENT|COMPACTS]->(above:Node)
RETURN n, CASE type(up) WHEN 'PARENT' THEN above.id END AS parent_id,
       CASE type(up) WHEN 'COMPACTS' THEN above.id END AS compacts_id
ORDER BY n.created_at, n.id
