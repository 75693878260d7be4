// Write a call that is already settled, below $parent_id, and move the cursor from $expected to it.
// When the cursor is elsewhere nothing is written (moved), or with $keep the call as an unseen branch (kept).
// With $same_turn it is a later round of its parent's turn, if it goes on from where that turn has ended.
// outcome: ok | moved | kept | repeated | conflict | gone | no_parent | turn_in_progress | turn_expired
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = datetime.realtime()
WITH c, datetime.realtime() AS now
OPTIONAL MATCH (parent:Node {workspace: $workspace, id: $parent_id})
FOREACH (p IN CASE WHEN parent IS NULL THEN [] ELSE [parent] END | SET p.locked = true REMOVE p.locked)
WITH c, now, parent
OPTIONAL MATCH (c)-[edge:CURSOR]->(at:Node)
OPTIONAL MATCH (known:Node {workspace: $workspace, id: $node_id})
OPTIONAL MATCH (known)-[:PARENT]->(known_parent:Node)
WITH c, now, parent, edge, at,
     CASE
       WHEN c.deleting THEN 'gone'
       WHEN known IS NOT NULL THEN
         CASE WHEN known.sent_hash = $node.sent_hash AND known.result_hash = $node.result_hash
                   AND coalesce(known_parent.id, '') = coalesce($parent_id, '')
                   AND coalesce(known.metadata, '') = coalesce($node.metadata, '')
              THEN CASE WHEN EXISTS { (:Move {workspace: $workspace, id: $move_id, accepted: false}) }
                        THEN 'kept' ELSE 'repeated' END
              ELSE 'conflict' END
       WHEN c.epoch <> $epoch THEN 'gone'
       WHEN $parent_id IS NOT NULL AND (parent IS NULL OR parent.deleted_at IS NOT NULL) THEN 'no_parent'
       WHEN c.turn_id IS NOT NULL AND c.turn_expires_at > now THEN 'turn_in_progress'
       WHEN c.turn_id IS NOT NULL THEN 'turn_expired'
       WHEN coalesce(at.id, '') = coalesce($expected, '') THEN 'ok'
       WHEN $keep THEN 'kept'
       ELSE 'moved'
     END AS outcome, known IS NOT NULL AS written
WITH c, now, parent, edge, at, outcome, outcome = 'ok' AS moves, outcome IN ['ok', 'kept'] AND NOT written AS writes
FOREACH (setting IN CASE WHEN writes THEN $settings ELSE [] END |
  MERGE (b:Blob {workspace: $workspace, sha256: setting.sha256})
  ON CREATE SET b.data = setting.data, b.size = setting.size, b.media_type = 'application/json'
  SET b.setting = true, b.unused_since = null)
FOREACH (write IN CASE WHEN writes THEN [1] ELSE [] END |
  CREATE (n:Node)
  SET n = $node, n.created_at = now, n.finished_at = now
  // A turn's nodes form a line: beside another round of it, or as a branch, this call is a turn of its own.
  FOREACH (above IN CASE WHEN $same_turn AND moves AND parent = at AND parent.conversation_id = c.id
                              AND parent.kind = 'turn'
                              AND NOT EXISTS { (parent)<-[:PARENT]-(:Node {turn_id: parent.turn_id}) }
                         THEN [parent] ELSE [] END |
    SET n.turn_id = above.turn_id, n.round = above.round + 1)
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
  SET c.moves = c.moves + 1, c.version = c.version + CASE WHEN moves THEN 1 ELSE 0 END
  CREATE (c)-[:MOVED]->(m:Move {workspace: $workspace, id: $move_id, conversation_id: c.id, seq: c.moves, at: now,
                                reason: $reason, actor: $actor, accepted: moves})
  CREATE (m)-[:TO]->(n)
  FOREACH (old IN CASE WHEN at IS NULL THEN [] ELSE [at] END | CREATE (m)-[:FROM]->(old))
  FOREACH (old IN CASE WHEN moves AND edge IS NOT NULL THEN [edge] ELSE [] END | DELETE old)
  FOREACH (move IN CASE WHEN moves THEN [1] ELSE [] END |
    CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: c.id}]->(n))
  FOREACH (lost IN CASE WHEN moves THEN [] ELSE [1] END | CREATE (c)-[:UNSEEN {refused_at: now}]->(n)))
WITH c, outcome
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
RETURN outcome, cursor.id AS cursor, c.version AS version, c.turn_id AS turn_id, c.turn_owner AS turn_owner,
       c.turn_expires_at AS turn_expires_at
