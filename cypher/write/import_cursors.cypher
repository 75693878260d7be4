// Move cursors to where the source has them, unless somebody moved them here since the last import or hid that branch,
// or a turn runs.
// outcome: there (already) | moved | moved_here | turn_running
UNWIND $cursors AS row
MATCH (c:Conversation {workspace: $workspace, id: row.conversation_id})
MATCH (target:Node {workspace: $workspace, id: row.node_id})
SET target.locked = true REMOVE target.locked
WITH row, c, target
OPTIONAL MATCH (c)-[edge:CURSOR]->(at:Node)
WITH c, target, edge, at, row,
     CASE WHEN at.id = target.id THEN 'there'
          WHEN c.turn_id IS NOT NULL THEN 'turn_running'
          WHEN c.version = c.imported_version AND target.deleted_at IS NULL THEN 'moved'
          ELSE 'moved_here' END AS outcome
FOREACH (move IN CASE WHEN outcome = 'moved' THEN [1] ELSE [] END |
  SET c.moves = c.moves + 1, c.version = c.version + 1
  SET c.imported_version = c.version
  CREATE (c)-[:MOVED]->(m:Move {workspace: $workspace, id: row.move_id, conversation_id: c.id, seq: c.moves,
                                at: datetime.realtime(), reason: 'import', actor: $actor, accepted: true})
  CREATE (m)-[:TO]->(target)
  FOREACH (old IN CASE WHEN at IS NULL THEN [] ELSE [at] END | CREATE (m)-[:FROM]->(old))
  FOREACH (old IN CASE WHEN edge IS NULL THEN [] ELSE [edge] END | DELETE old)
  CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: c.id}]->(target))
RETURN c.id AS id, outcome
