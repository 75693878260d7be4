// Record an effect on the node that proposed it. No row: there is no such node, or it is hidden or being deleted.
// The node is locked, so that its deletion takes the effect with it. outcome: ok | repeated | conflict
MATCH (n:Node {workspace: $workspace, id: $node_id})
SET n.locked = true REMOVE n.locked
WITH n
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE n.deleted_at IS NULL AND NOT c.deleting
OPTIONAL MATCH (known:Effect {workspace: $workspace, id: $effect_id})
OPTIONAL MATCH (known)<-[:PROPOSED]-(at:Node)
WITH n, CASE WHEN known IS NULL THEN 'ok'
             WHEN at.id = n.id AND known.proposal_hash = $effect.proposal_hash THEN 'repeated'
             ELSE 'conflict' END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END |
  CREATE (n)-[:PROPOSED]->(e:Effect {workspace: $workspace, id: $effect_id})
  SET e += $effect, e.status = 'proposed', e.proposed_at = datetime.realtime())
RETURN outcome
