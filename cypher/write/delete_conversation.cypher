// Remove a conversation that is marked and owns nothing any more. No row: it is gone. left: what it still owns.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = c.updated_at
WITH c, COUNT { MATCH (n:Node {workspace: $workspace, conversation_id: c.id}) }
        + COUNT { (c)-[:MOVED]->(:Move) } AS left
CALL (c, left) {
  MATCH (c)-[own:CURSOR|STARTS|UNSEEN|FORKED_AT|CLEARED]->(:Node)
  WHERE left = 0
  DELETE own
}
CALL (c, left) {
  WITH c, left WHERE left = 0
  DELETE c
}
RETURN left
