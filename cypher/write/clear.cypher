// Empty a conversation: cursor to none, epoch raised, its branches set apart to be removed. One row.
// outcome: ok | repeated | gone | turn_in_progress
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = datetime.realtime()
WITH c, datetime.realtime() AS now
OPTIONAL MATCH (c)-[edge:CURSOR]->(at:Node)
OPTIONAL MATCH (done:Move {workspace: $workspace, id: $move_id})
WITH c, now, edge, at,
     c.turn_id AS turn_id, c.turn_owner AS turn_owner, c.turn_expires_at AS turn_expires_at,
     CASE WHEN c.deleting THEN 'gone' WHEN done IS NOT NULL THEN 'repeated'
          WHEN NOT $force AND c.turn_id IS NOT NULL AND c.turn_expires_at > now THEN 'turn_in_progress'
          ELSE 'ok' END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END |
  SET c.epoch = c.epoch + 1, c.version = c.version + 1, c.moves = c.moves + 1, c.removals = c.removals + 1,
      c.compacted = false, c.turn_id = null, c.turn_owner = null, c.turn_node_id = null, c.turn_expires_at = null,
      c.turn_from = null
  CREATE (c)-[:MOVED]->(m:Move {workspace: $workspace, id: $move_id, conversation_id: c.id, seq: c.moves, at: now,
                                reason: 'clear', actor: $actor, accepted: true, from_id: at.id})
  FOREACH (old IN CASE WHEN edge IS NULL THEN [] ELSE [edge] END | DELETE old))
WITH c, turn_id, turn_owner, turn_expires_at, outcome
CALL (c, outcome) {
  MATCH (n:Node {workspace: $workspace, conversation_id: c.id})
  WHERE outcome = 'ok'
    AND (n.is_root OR EXISTS { (n)-[:PARENT|COMPACTS]->(above:Node) WHERE above.conversation_id <> n.conversation_id })
  CREATE (c)-[:CLEARED]->(n)
}
CALL (c, outcome) {
  MATCH (c)-[old:STARTS|UNSEEN|FORKED_AT]->(:Node)
  WHERE outcome = 'ok'
  DELETE old
}
RETURN outcome, turn_id, turn_owner, turn_expires_at
