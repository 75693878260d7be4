// Write a compaction of the path that ends at $original_id: a node with no parent, linked to that original.
// Without $turn_id the cursor moves to it by compare-and-set; within a running turn it becomes the turn's last node.
// outcome: ok | moved | repeated | conflict | gone | no_original | turn_in_progress | turn_expired | turn_lost
//          | call_in_progress
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = datetime.realtime()
WITH c, datetime.realtime() AS now
OPTIONAL MATCH (original:Node {workspace: $workspace, id: $original_id})
FOREACH (o IN CASE WHEN original IS NULL THEN [] ELSE [original] END | SET o.locked = true REMOVE o.locked)
WITH c, now, original
OPTIONAL MATCH (c)-[edge:CURSOR]->(at:Node)
OPTIONAL MATCH (known:Node {workspace: $workspace, id: $node_id})
OPTIONAL MATCH (known)-[:COMPACTS]->(known_original:Node)
WITH c, now, original, edge, at,
     CASE
       WHEN c.deleting THEN 'gone'
       WHEN known IS NOT NULL THEN
         CASE WHEN known.sent_hash = $node.sent_hash AND known.result_hash = $node.result_hash
                   AND known_original.id = $original_id AND known.readers = $node.readers
                   AND coalesce(known.provider, '') = coalesce($node.provider, '')
                   AND coalesce(known.model, '') = coalesce($node.model, '')
                   AND coalesce(known.metadata, '') = coalesce($node.metadata, '') THEN 'repeated' ELSE 'conflict' END
       WHEN c.epoch <> $epoch THEN 'gone'
       WHEN original IS NULL OR original.deleted_at IS NOT NULL THEN 'no_original'
       WHEN $turn_id IS NOT NULL AND $exclusive AND coalesce(c.turn_id, '') <> $turn_id THEN 'turn_lost'
       WHEN $turn_id IS NOT NULL AND original.status = 'pending' THEN 'call_in_progress'
       WHEN $turn_id IS NOT NULL THEN 'ok'
       WHEN c.turn_id IS NOT NULL AND c.turn_expires_at > now THEN 'turn_in_progress'
       WHEN c.turn_id IS NOT NULL THEN 'turn_expired'
       WHEN at.id = $original_id THEN 'ok'
       ELSE 'moved'
     END AS outcome
FOREACH (ok IN CASE WHEN outcome = 'ok' THEN [1] ELSE [] END |
  CREATE (n:Node:Compaction)
  SET n = $node, n.created_at = now, n.finished_at = now, c.compacted = true
  // What the path has in force stays in force below its compaction.
  SET n.system_hash = original.system_hash, n.tools_hash = original.tools_hash
  FOREACH (flag IN CASE WHEN $exact THEN [1] ELSE [] END | SET n:ExactText)
  FOREACH (flag IN CASE WHEN size($blobs) = 0 THEN [] ELSE [1] END | SET n:Heavy)
  FOREACH (blob IN $blobs |
    MERGE (b:Blob {workspace: $workspace, sha256: blob.sha256})
    ON CREATE SET b.data = blob.data, b.size = blob.size, b.media_type = blob.media_type
    SET b.locked = true REMOVE b.locked
    MERGE (n)-[:USES]->(b))
  CREATE (n)-[:COMPACTS {workspace: $workspace, compaction_id: $node_id, readers: $node.readers}]->(original)
  FOREACH (within IN CASE WHEN $turn_id IS NOT NULL AND $exclusive THEN [1] ELSE [] END |
    SET c.turn_node_id = $node_id, c.turn_expires_at = now + duration({milliseconds: $lease_ms}))
  FOREACH (between IN CASE WHEN $turn_id IS NULL THEN [1] ELSE [] END |
    SET c.moves = c.moves + 1, c.version = c.version + 1
    CREATE (c)-[:MOVED]->(m:Move {workspace: $workspace, id: $move_id, conversation_id: c.id, seq: c.moves, at: now,
                                  reason: 'compaction', actor: $actor, accepted: true})
    CREATE (m)-[:FROM]->(original)
    CREATE (m)-[:TO]->(n)
    DELETE edge
    CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: c.id}]->(n)))
WITH c, outcome
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
RETURN outcome, cursor.id AS cursor, c.version AS version, c.turn_id AS turn_id, c.turn_owner AS turn_owner,
       c.turn_expires_at AS turn_expires_at, c.turn_node_id AS turn_node_id
