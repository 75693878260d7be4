// Move cursors to where the source has them, unless somebody moved them here since the last import, or a turn runs.
UNWIND $cursors AS row
MATCH (c:Conversation {workspace: $workspace, id: row.conversation_id})
MATCH (target:Node {workspace: $workspace, id: row.node_id})
OPTIONAL MATCH (c)-[edge:CURSOR]->(at:Node)
WITH c, target, edge, at, row
WHERE c.version = c.imported_version AND c.turn_id IS NULL AND (at IS NULL OR at.id <> target.id)
SET c.moves = c.moves + 1, c.version = c.version + 1
SET c.imported_version = c.version
CREATE (c)-[:MOVED]->(m:Move {workspace: $workspace, id: row.move_id, conversation_id: c.id, seq: c.moves,
                              at: datetime.realtime(), reason: 'import', actor: $actor, accepted: true})
CREATE (m)-[:TO]->(target)
FOREACH (old IN CASE WHEN at IS NULL THEN [] ELSE [at] END | CREATE (m)-[:FROM]->(old))
FOREACH (old IN CASE WHEN edge IS NULL THEN [] ELSE [edge] END | DELETE old)
CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: c.id}]->(target)
RETURN c.id AS id
