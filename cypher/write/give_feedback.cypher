// Record feedback on a node. No row: there is no such node, or it is hidden or being deleted.
// The node is locked, so that its deletion takes the feedback with it. outcome: ok | repeated | conflict
MATCH (n:Node {workspace: $workspace, id: $node_id})
SET n.locked = true REMOVE n.locked
WITH n
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE n.deleted_at IS NULL AND NOT c.deleting
OPTIONAL MATCH (known:Feedback {workspace: $workspace, id: $feedback_id})
OPTIONAL MATCH (known)-[:ABOUT]->(of:Node)
WITH n, CASE WHEN known IS NULL THEN 'ok'
             WHEN of.id = n.id AND known.given_hash = $feedback.given_hash THEN 'repeated'
             ELSE 'conflict' END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END |
  CREATE (f:Feedback {workspace: $workspace, id: $feedback_id})-[:ABOUT]->(n)
  SET f += $feedback, f.created_at = datetime.realtime())
RETURN outcome
