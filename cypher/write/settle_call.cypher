// Settle a pending call once; with $end the turn ends here too, and with $moves its cursor goes to $target_id.
// One row: outcome, whether the turn was lost, whether the cursor moved (null: no move was asked), and where it is.
// outcome: ok | repeated | conflict | gone. A call marked lost (by settle_lost_turn, so without a result_hash) still
// takes its late completion, but moves nothing.
MATCH (n:Node {workspace: $workspace, id: $node_id})
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = datetime.realtime()
SET n.locked = true REMOVE n.locked
WITH c, n, datetime.realtime() AS now
OPTIONAL MATCH (c)-[edge:CURSOR]->(at:Node)
OPTIONAL MATCH (target:Node {workspace: $workspace, id: $target_id})
OPTIONAL MATCH (done:Move {workspace: $workspace, id: $move_id})
WITH c, n, now, edge, at, target, done,
     CASE
       WHEN c.deleting OR c.epoch <> $epoch THEN 'gone'
       WHEN n.result_hash IS NULL THEN 'ok'
       WHEN n.result_hash = $result.result_hash THEN 'repeated'
       ELSE 'conflict'
     END AS outcome,
     $exclusive AND coalesce(c.turn_id, '') <> $turn_id AS elsewhere
WITH c, n, now, edge, at, target, done, outcome, elsewhere, elsewhere AND outcome = 'ok' AS lost,
     $end AND NOT elsewhere AND outcome IN ['ok', 'repeated'] AND done IS NULL AS ends
WITH *, CASE WHEN done IS NOT NULL THEN done.accepted
             WHEN ends AND $moves THEN coalesce(at.id, '') = coalesce($expected, '') AND target.deleted_at IS NULL
             END AS moved
FOREACH (ok IN CASE WHEN outcome = 'ok' THEN [1] ELSE [] END |
  SET n += {failure_kind: null, failure_message: null}
  SET n += $result, n.finished_at = now, n.partial = CASE WHEN $result.returned IS NULL THEN n.partial END
  FOREACH (flag IN CASE WHEN $exact THEN [1] ELSE [] END | SET n:ExactText)
  FOREACH (flag IN CASE WHEN size($blobs) = 0 THEN [] ELSE [1] END | SET n:Heavy)
  FOREACH (blob IN $blobs |
    MERGE (b:Blob {workspace: $workspace, sha256: blob.sha256})
    ON CREATE SET b.data = blob.data, b.size = blob.size, b.media_type = blob.media_type
    SET b.locked = true REMOVE b.locked
    MERGE (n)-[:USES]->(b)))
FOREACH (renew IN CASE WHEN NOT elsewhere AND NOT ends AND $exclusive AND outcome <> 'gone'
                       THEN [1] ELSE [] END |
  SET c.turn_expires_at = now + duration({milliseconds: $lease_ms}))
FOREACH (over IN CASE WHEN ends AND $exclusive THEN [1] ELSE [] END |
  SET c.turn_id = null, c.turn_owner = null, c.turn_node_id = null, c.turn_expires_at = null, c.turn_from = null)
FOREACH (accepted IN CASE WHEN ends AND $moves THEN [moved] ELSE [] END |
  SET c.moves = c.moves + 1, c.version = c.version + CASE WHEN accepted THEN 1 ELSE 0 END
  CREATE (c)-[:MOVED]->(m:Move {workspace: $workspace, id: $move_id, conversation_id: c.id, seq: c.moves, at: now,
                                reason: $reason, actor: $actor, accepted: accepted})
  CREATE (m)-[:TO]->(target)
  FOREACH (old IN CASE WHEN at IS NULL THEN [] ELSE [at] END | CREATE (m)-[:FROM]->(old))
  FOREACH (old IN CASE WHEN accepted AND edge IS NOT NULL THEN [edge] ELSE [] END | DELETE old)
  FOREACH (to IN CASE WHEN accepted THEN [target] ELSE [] END |
    CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: c.id}]->(to))
  FOREACH (kept IN CASE WHEN accepted THEN [] ELSE [target] END | CREATE (c)-[:UNSEEN {refused_at: now}]->(kept)))
WITH c, n, outcome, lost, moved
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
RETURN outcome, lost, moved, cursor.id AS cursor, c.version AS version, n.status AS status
