// A page of conversations, in order of id from $after on, with all that their pointers are checked against.
// cursors: where each leads (with the keys on it, and whether it is hidden). moves: how many, their numbers' bounds and
// how many were accepted. last: where the last accepted one led ([id], [null] for a clear; null: there is none).
MATCH (c:Conversation {workspace: $workspace})
WHERE c.id > $after
WITH c ORDER BY c.id LIMIT $limit
CALL (c) {
  OPTIONAL MATCH (c)-[:MOVED]->(m:Move)
  RETURN count(m) AS moves, min(m.seq) AS first_seq, max(m.seq) AS last_seq,
         sum(CASE WHEN m.accepted THEN 1 ELSE 0 END) AS accepted,
         sum(CASE WHEN m.conversation_id <> c.id THEN 1 ELSE 0 END) AS strange
}
RETURN c.id AS id, c.deleting AS deleting, c.version AS version, c.moves AS counted, c.turn_id AS turn_id,
       c.turn_node_id AS turn_node_id, moves, first_seq, last_seq, accepted, strange,
       c.turn_node_id IS NULL OR EXISTS { MATCH (:Node {workspace: $workspace, id: c.turn_node_id}) } AS turn_node_is_there,
       COLLECT { MATCH (c)-[r:CURSOR]->(n:Node)
                 RETURN [n.id, n.workspace, n.deleted_at IS NOT NULL, r.workspace, r.conversation_id] } AS cursors,
       head(COLLECT { MATCH (c)-[:MOVED]->(m:Move)
                      WHERE m.accepted
                      WITH m ORDER BY m.seq DESC LIMIT 1
                      OPTIONAL MATCH (m)-[:TO]->(to:Node)
                      RETURN [coalesce(to.id, m.to_id), m.id] }) AS last
ORDER BY id
