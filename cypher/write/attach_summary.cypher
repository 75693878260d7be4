// Attach a summary to the branch that begins at a node, in place of another text that was there; the same text again
// changes nothing. No row: there is no such node, or it is hidden or being deleted.
// The node is locked, so that its deletion takes the summary with it.
MATCH (n:Node {workspace: $workspace, id: $node_id})
SET n.locked = true REMOVE n.locked
WITH n
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE n.deleted_at IS NULL AND NOT c.deleting
MERGE (s:Summary {workspace: $workspace, id: $summary_id})
MERGE (s)-[:SUMMARIZES]->(n)
FOREACH (new IN CASE WHEN coalesce(s.text, '') <> $text THEN [1] ELSE [] END |
  SET s.text = $text, s.actor = $actor, s.created_at = datetime.realtime())
RETURN s.id AS id
