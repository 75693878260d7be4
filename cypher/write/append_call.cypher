// Write a pending call below $parent_id and take (or renew) the turn; with $move the cursor goes to the parent first.
// One row: outcome, and the conversation's cursor, version and running turn as they are afterwards.
// outcome: ok | repeated | conflict | gone | no_parent | turn_in_progress | turn_expired | turn_lost
//          | call_in_progress | round_taken | moved
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = datetime.realtime()
WITH c, datetime.realtime() AS now
OPTIONAL MATCH (parent:Node {workspace: $workspace, id: $parent_id})
FOREACH (p IN CASE WHEN parent IS NULL THEN [] ELSE [parent] END | SET p.locked = true REMOVE p.locked)
WITH c, now, parent
OPTIONAL MATCH (c)-[edge:CURSOR]->(at:Node)
OPTIONAL MATCH (known:Node {workspace: $workspace, id: $node_id})
OPTIONAL MATCH (known)-[:PARENT]->(known_parent:Node)
WITH c, now, parent, edge, at, known,
     CASE
       WHEN c.deleting THEN 'gone'
       WHEN known IS NOT NULL THEN
         CASE WHEN known.sent_hash = $node.sent_hash AND known.turn_id = $turn_id
                   AND coalesce(known_parent.id, '') = coalesce($parent_id, '') THEN 'repeated' ELSE 'conflict' END
       WHEN c.epoch <> $epoch THEN 'gone'
       WHEN $parent_id IS NOT NULL AND (parent IS NULL OR parent.deleted_at IS NOT NULL) THEN 'no_parent'
       WHEN $exclusive AND NOT $first AND (c.turn_id IS NULL OR c.turn_id <> $turn_id) THEN 'turn_lost'
       WHEN $exclusive AND c.turn_id <> $turn_id AND c.turn_expires_at > now THEN 'turn_in_progress'
       WHEN $exclusive AND c.turn_id <> $turn_id THEN 'turn_expired'
       WHEN NOT $first AND parent.status = 'pending' THEN 'call_in_progress'
       WHEN $exclusive AND NOT $first AND c.turn_node_id <> $parent_id THEN 'round_taken'
       WHEN $first AND ($exclusive OR $move IS NOT NULL) AND coalesce(at.id, '') <> coalesce($expected, '')
         THEN 'moved'
       ELSE 'ok'
     END AS outcome
FOREACH (setting IN CASE WHEN outcome = 'ok' THEN $settings ELSE [] END |
  MERGE (b:Blob {workspace: $workspace, sha256: setting.sha256})
  ON CREATE SET b.data = setting.data, b.size = setting.size, b.media_type = 'application/json'
  SET b.setting = true, b.unused_since = null)
FOREACH (ok IN CASE WHEN outcome = 'ok' THEN [1] ELSE [] END |
  CREATE (n:Node)
  SET n = $node, n.created_at = now
  FOREACH (flag IN CASE WHEN $exact THEN [1] ELSE [] END | SET n:ExactText)
  FOREACH (flag IN CASE WHEN size($blobs) = 0 THEN [] ELSE [1] END | SET n:Heavy)
  FOREACH (blob IN $blobs |
    MERGE (b:Blob {workspace: $workspace, sha256: blob.sha256})
    ON CREATE SET b.data = blob.data, b.size = blob.size, b.media_type = blob.media_type
    SET b.locked = true REMOVE b.locked
    MERGE (n)-[:USES]->(b))
  FOREACH (p IN CASE WHEN parent IS NULL THEN [] ELSE [parent] END |
    CREATE (n)-[:PARENT {workspace: $workspace, child_id: $node_id}]->(p))
  FOREACH (root IN CASE WHEN parent IS NULL THEN [1] ELSE [] END | CREATE (c)-[:STARTS]->(n))
  FOREACH (turn IN CASE WHEN $exclusive THEN [1] ELSE [] END |
    SET c.turn_from = CASE WHEN NOT $first THEN c.turn_from WHEN $move IS NULL THEN at.id ELSE $parent_id END,
        c.turn_id = $turn_id, c.turn_owner = $owner, c.turn_node_id = $node_id,
        c.turn_expires_at = now + duration({milliseconds: $lease_ms}))
  FOREACH (move IN CASE WHEN $move IS NULL THEN [] ELSE [$move] END |
    SET c.version = c.version + 1, c.moves = c.moves + 1
    CREATE (c)-[:MOVED]->(m:Move {workspace: $workspace, id: move.id, conversation_id: c.id, seq: c.moves, at: now,
                                  reason: move.reason, actor: move.actor, accepted: true})
    FOREACH (old IN CASE WHEN at IS NULL THEN [] ELSE [at] END | CREATE (m)-[:FROM]->(old))
    FOREACH (old IN CASE WHEN edge IS NULL THEN [] ELSE [edge] END | DELETE old)
    FOREACH (p IN CASE WHEN parent IS NULL THEN [] ELSE [parent] END |
      CREATE (m)-[:TO]->(p)
      CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: c.id}]->(p))))
WITH c, known, outcome
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
RETURN outcome, cursor.id AS cursor, c.version AS version, c.turn_id AS turn_id, c.turn_owner AS turn_owner,
       c.turn_expires_at AS turn_expires_at, c.turn_node_id AS turn_node_id
