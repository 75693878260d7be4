// A page of the ends of a conversation's live branches, newest first, after ($after_at, $after_id); null: from the
// newest. Beside them the ids of the accepted path, newest first. One row.
// An end is a node that no other of the conversation follows, where the cursor is, or where a fork began and nothing
// follows yet; side jobs are no branches.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (c)-[:FORKED_AT]->(at:Node)
WITH c, cursor, at, EXISTS { (c)-[:CLEARED]->(:Node) } AS clearing
CALL (c, cursor, at, clearing) {
  CALL (c, cursor, at) {
    MATCH (end:Node {workspace: $workspace, conversation_id: c.id})
    WHERE end.deleted_at IS NULL AND end.kind <> 'conversion'
      AND NOT EXISTS { (end)<-[:PARENT|COMPACTS]-(next:Node)
                       WHERE next.conversation_id = c.id AND next.deleted_at IS NULL AND next.kind <> 'conversion' }
    RETURN end
    UNION
    WITH at AS end
    WHERE end.deleted_at IS NULL
      AND NOT EXISTS { (end)<-[:PARENT|COMPACTS]-(next:Node)
                       WHERE next.conversation_id = c.id AND next.deleted_at IS NULL AND next.kind <> 'conversion' }
    RETURN end
    UNION
    WITH cursor AS end
    RETURN end
  }
  WITH c, clearing, end
  WHERE end IS NOT NULL
    AND ($after_at IS NULL OR end.created_at < $after_at OR (end.created_at = $after_at AND end.id < $after_id))
    AND NOT (clearing AND EXISTS { (end)-[:PARENT|COMPACTS*0..]->(:Node)<-[:CLEARED]-(c) })
  WITH end ORDER BY end.created_at DESC, end.id DESC LIMIT $limit
  RETURN collect([end.id, end.created_at]) AS ends
}
RETURN ends, COLLECT { MATCH (cursor)-[:PARENT|COMPACTS*0..]->(n:Node) RETURN n.id } AS accepted
