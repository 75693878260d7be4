// Move a cursor by compare-and-set, and end the turn $turn_id if one is named. One row: outcome and where the cursor is.
// outcome: ok | unchanged | repeated | refused (recorded as such) | gone | no_target | turn_in_progress
//          | turn_expired | turn_lost
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = datetime.realtime()
WITH c, datetime.realtime() AS now
OPTIONAL MATCH (target:Node {workspace: $workspace, id: $target_id})
FOREACH (t IN CASE WHEN target IS NULL THEN [] ELSE [target] END | SET t.locked = true REMOVE t.locked)
WITH c, now, target
OPTIONAL MATCH (c)-[edge:CURSOR]->(at:Node)
OPTIONAL MATCH (done:Move {workspace: $workspace, id: $move_id})
WITH c, now, target, edge, at,
     CASE
       WHEN c.deleting OR c.epoch <> $epoch THEN 'gone'
       WHEN done IS NOT NULL THEN CASE WHEN done.accepted THEN 'repeated' ELSE 'refused_before' END
       WHEN target IS NULL OR target.deleted_at IS NOT NULL THEN 'no_target'
       WHEN $turn_id IS NOT NULL AND $exclusive AND coalesce(c.turn_id, '') <> $turn_id THEN 'turn_lost'
       WHEN $turn_id IS NULL AND c.turn_id IS NOT NULL AND c.turn_expires_at > now THEN 'turn_in_progress'
       WHEN $turn_id IS NULL AND c.turn_id IS NOT NULL THEN 'turn_expired'
       WHEN coalesce(at.id, '') <> coalesce($expected, '') THEN 'refused'
       WHEN at.id = target.id THEN 'unchanged'
       ELSE 'ok'
     END AS outcome
FOREACH (over IN CASE WHEN $turn_id IS NOT NULL AND outcome IN ['ok', 'unchanged', 'refused'] AND $exclusive
                      THEN [1] ELSE [] END |
  SET c.turn_id = null, c.turn_owner = null, c.turn_node_id = null, c.turn_expires_at = null, c.turn_from = null)
FOREACH (accepted IN CASE outcome WHEN 'ok' THEN [true] WHEN 'refused' THEN [false] ELSE [] END |
  SET c.moves = c.moves + 1, c.version = c.version + CASE WHEN accepted THEN 1 ELSE 0 END
  CREATE (c)-[:MOVED]->(m:Move {workspace: $workspace, id: $move_id, conversation_id: c.id, seq: c.moves, at: now,
                                reason: $reason, actor: $actor, accepted: accepted})
  CREATE (m)-[:TO]->(target)
  FOREACH (old IN CASE WHEN at IS NULL THEN [] ELSE [at] END | CREATE (m)-[:FROM]->(old))
  FOREACH (old IN CASE WHEN accepted AND edge IS NOT NULL THEN [edge] ELSE [] END | DELETE old)
  FOREACH (to IN CASE WHEN accepted THEN [target] ELSE [] END |
    CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: c.id}]->(to))
  FOREACH (kept IN CASE WHEN NOT accepted AND $turn_id IS NOT NULL THEN [target] ELSE [] END |
    CREATE (c)-[:UNSEEN {refused_at: now}]->(kept)))
WITH c, outcome, target
CALL (c, outcome, target) {
  WITH c, outcome, target WHERE outcome IN ['ok', 'unchanged']
  MATCH (c)-[unseen:UNSEEN]->(branch:Node)
  WHERE EXISTS { (target)-[:PARENT|COMPACTS*0..]->(branch) }
  DELETE unseen
}
WITH c, outcome
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
RETURN outcome, cursor.id AS cursor, c.version AS version, c.turn_id AS turn_id, c.turn_owner AS turn_owner,
       c.turn_expires_at AS turn_expires_at
