// Settle a turn whose lease ran out: its pending call is failed as lost and the cursor goes to the turn's last node,
// so that results already paid for are kept. Changes nothing when the turn was renewed or settled meanwhile.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = datetime.realtime()
WITH c, datetime.realtime() AS now
WHERE c.turn_id = $turn_id AND c.turn_expires_at <= now
OPTIONAL MATCH (n:Node {workspace: $workspace, id: c.turn_node_id})
FOREACH (last IN CASE WHEN n IS NULL THEN [] ELSE [n] END | SET last.locked = true REMOVE last.locked)
WITH c, now, n
OPTIONAL MATCH (c)-[edge:CURSOR]->(at:Node)
WITH c, now, n, edge, at, coalesce(at.id, '') = coalesce(c.turn_from, '') AS accepted
FOREACH (lost IN CASE WHEN n.status = 'pending' THEN [n] ELSE [] END |
  SET lost.status = 'failed', lost.failure_kind = 'lost', lost.finished_at = now,
      lost.failure_message = 'the process that ran this call stopped renewing its turn')
FOREACH (last IN CASE WHEN n IS NULL THEN [] ELSE [n] END |
  SET c.moves = c.moves + 1, c.version = c.version + CASE WHEN accepted THEN 1 ELSE 0 END
  CREATE (c)-[:MOVED]->(m:Move {workspace: $workspace, id: $move_id, conversation_id: c.id, seq: c.moves, at: now,
                                reason: 'failure', actor: $actor, accepted: accepted})
  CREATE (m)-[:TO]->(last)
  FOREACH (old IN CASE WHEN at IS NULL THEN [] ELSE [at] END | CREATE (m)-[:FROM]->(old))
  FOREACH (old IN CASE WHEN accepted AND edge IS NOT NULL THEN [edge] ELSE [] END | DELETE old)
  FOREACH (to IN CASE WHEN accepted THEN [last] ELSE [] END |
    CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: c.id}]->(to))
  FOREACH (kept IN CASE WHEN accepted THEN [] ELSE [last] END | CREATE (c)-[:UNSEEN {refused_at: now}]->(kept)))
SET c.turn_id = null, c.turn_owner = null, c.turn_node_id = null, c.turn_expires_at = null, c.turn_from = null
RETURN n.id AS node_id
