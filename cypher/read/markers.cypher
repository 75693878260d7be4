// For each turn on the history path, root first: its first node and those of its sibling turns, oldest first.
// Siblings are live turns of this conversation, the path's own nodes, and the node where a fork began.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (named:Node {workspace: $workspace, id: $node_id})
OPTIONAL MATCH (c)-[:FORKED_AT]->(at:Node)
WITH c, at, CASE WHEN $node_id IS NULL THEN cursor ELSE named END AS leaf
CALL (leaf) {
  MATCH (leaf)-[:PARENT|COMPACTS*0..]->(n:Node)
  RETURN reverse([x IN collect(n) WHERE x.kind = 'turn' AND x.round = 0]) AS firsts
}
OPTIONAL MATCH (at)-[:PARENT|COMPACTS*0..]->(origin:Node)
WHERE origin.turn_id = at.turn_id AND origin.round = 0
WITH c, firsts, collect(origin.id) AS origins, range(0, size(firsts) - 1) AS places
UNWIND places AS place
WITH c, firsts[place] AS first, origins, place
OPTIONAL MATCH (first)-[:PARENT]->(parent:Node)
WITH c, first, origins, place, parent,
     CASE WHEN parent IS NULL
       THEN COLLECT { MATCH (c)-[:STARTS]->(s:Node) WHERE s.kind = 'turn' AND s.deleted_at IS NULL
                      RETURN [s.id, s.sent_hash, s.created_at] }
            + CASE WHEN first.conversation_id = c.id THEN [] ELSE [[first.id, first.sent_hash, first.created_at]] END
            + COLLECT { MATCH (s:Node {workspace: $workspace}) WHERE s.id IN origins AND s.id <> first.id
                        AND s.is_root AND s.conversation_id <> c.id AND s.deleted_at IS NULL
                        RETURN [s.id, s.sent_hash, s.created_at] }
       ELSE COLLECT { MATCH (parent)<-[:PARENT]-(s:Node)
                      WHERE s.kind = 'turn' AND s.round = 0 AND s.deleted_at IS NULL
                        AND (s.conversation_id = c.id OR s.id = first.id OR s.id IN origins)
                      RETURN [s.id, s.sent_hash, s.created_at] }
     END AS siblings
RETURN first.id AS node_id, first.turn_id AS turn_id, first.sent_hash AS sent_hash, siblings, place
ORDER BY place
