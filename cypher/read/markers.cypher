// For each turn on the history path, root first: its first node, and where that stands among those of its sibling turns,
// oldest first: position (null: it is hidden) and count, at most $window ids around it, its neighbours, and the same told
// apart into versions of the question (version of versions) and answers to one (answer of answers).
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
CALL (first, siblings) {
  UNWIND siblings AS sibling
  WITH sibling ORDER BY sibling[2], sibling[0]
  WITH collect(sibling[0]) AS ids, collect(sibling[1]) AS asked
  WITH ids, asked, range(0, size(ids) - 1) AS places
  WITH ids, asked, head([i IN places WHERE ids[i] = first.id]) AS at,
       [i IN places WHERE asked[i] = first.sent_hash] AS same
  WITH ids, asked, at, same,
       CASE WHEN at < $window / 2 OR size(ids) <= $window THEN 0
            WHEN at > size(ids) - $window + $window / 2 THEN size(ids) - $window
            ELSE at - $window / 2 END AS start
  RETURN {position: at + 1, count: size(ids), siblings: ids[start..start + $window],
          left: CASE WHEN at > 0 THEN ids[at - 1] END, right: ids[at + 1],
          version: 1 + COUNT { UNWIND asked[0..head(same)] AS question RETURN DISTINCT question },
          versions: COUNT { UNWIND asked AS question RETURN DISTINCT question },
          answer: size([i IN same WHERE i <= at]), answers: size(same)} AS standing
}
RETURN first.id AS node_id, first.turn_id AS turn_id, standing, place
ORDER BY place
