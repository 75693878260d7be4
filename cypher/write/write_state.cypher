// Record the value that a node derived for a key. No row: there is no such node, or it is hidden or being deleted.
// The node is locked, so that its deletion takes the fact with it. outcome: ok | repeated | conflict
MATCH (n:Node {workspace: $workspace, id: $node_id})
SET n.locked = true REMOVE n.locked
WITH n
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE n.deleted_at IS NULL AND NOT c.deleting
OPTIONAL MATCH (known:Fact {workspace: $workspace, id: $fact_id})
WITH n, CASE WHEN known IS NULL THEN 'ok' WHEN known.value_hash = $fact.value_hash THEN 'repeated'
             ELSE 'conflict' END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END |
  CREATE (n)-[:DERIVED]->(f:Fact {workspace: $workspace, id: $fact_id})
  SET f += $fact, f.created_at = datetime.realtime())
RETURN outcome
