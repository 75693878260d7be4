// Claim an effect for execution, once. No row: there is no such effect.
// Locked in this order before anything is decided: the conversation that owns the node (so that its cursor and its turn
// stay), the node (so that it isn't handed to another), the effect.
// outcome: ok | repeated | handed (the node has another owner by now) | gone | turn_expired | claimed | state
//          | not_approved | off_path
MATCH (e:Effect {workspace: $workspace, id: $effect_id})<-[:PROPOSED]-(n:Node)
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
SET c.updated_at = datetime.realtime()
SET n.locked = true REMOVE n.locked
SET e.name = e.name
WITH c, n, e, datetime.realtime() AS now
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (running:Node {workspace: $workspace, id: c.turn_node_id})
// The owner as it is under the lock: what n.conversation_id gave above may be kept by the plan.
OPTIONAL MATCH (owned:Node {workspace: $workspace, id: n.id})
WITH c, n, e, now, coalesce(running, cursor) AS view_end, owned.conversation_id AS owner
CALL (n, view_end) {
  MATCH (view_end)-[:PARENT|COMPACTS*0..]->(above:Node)
  WITH n, collect(above.id) AS path
  RETURN n.id IN path AS on_path
}
WITH c, n, e, now, owner, on_path,
     CASE
       WHEN owner <> c.id THEN 'handed'
       WHEN c.deleting THEN 'gone'
       WHEN e.claim_id = $claim_id THEN 'repeated'
       WHEN e.claim_id IS NOT NULL THEN 'claimed'
       WHEN NOT e.status IN ['proposed', 'approved'] THEN 'state'
       WHEN NOT e.reversible AND e.status <> 'approved' THEN 'not_approved'
       WHEN NOT e.reversible AND c.turn_expires_at <= now THEN 'turn_expired'
       WHEN NOT e.reversible AND NOT on_path THEN 'off_path'
       ELSE 'ok'
     END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END |
  SET e.claim_id = $claim_id, e.worker = $worker, e.claimed_at = now)
RETURN outcome, e, n.id AS node_id, on_path, c.id AS conversation_id, c.turn_id AS turn_id,
       e.status AS status, e.name AS name, e.worker AS worker
