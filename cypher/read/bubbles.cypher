// A page of the bubbles on a conversation's history path to its view end (the last node of a running exclusive turn,
// else the cursor), newest first: at most $limit, those before the bubble $before (null: from the end). One row.
// markers: for each turn that the page shows, root first, what read/markers gives. marked: whether $before is on the path.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (running:Node {workspace: $workspace, id: c.turn_node_id})
OPTIONAL MATCH (c)-[:FORKED_AT]->(at:Node)
OPTIONAL MATCH (mark:Bubble {workspace: $workspace, id: $before})
OPTIONAL MATCH (mark)-[:OF]->(marked:Node)
WITH c, at, mark, marked, coalesce(running, cursor) AS leaf
CALL (leaf) {
  MATCH (leaf)-[:PARENT|COMPACTS*0..]->(n:Node)
  RETURN collect(n) AS nodes
}
WITH c, at, leaf, mark, nodes,
     CASE WHEN marked IS NULL THEN 0
          ELSE head([place IN range(0, size(nodes) - 1) WHERE nodes[place] = marked]) END AS start
CALL (nodes, start, mark) {
  UNWIND range(coalesce(start, size(nodes)), size(nodes) - 1) AS place
  WITH place, nodes[place] AS n
  MATCH (n)<-[:OF]-(b:Bubble)
  WHERE mark IS NULL OR place > start OR b.created_at < mark.created_at
     OR (b.created_at = mark.created_at AND b.id < mark.id)
  WITH place, n, b ORDER BY place, b.created_at DESC, b.id DESC LIMIT $limit
  RETURN collect({id: b.id, node_id: n.id, turn_id: n.turn_id, content: b.content, created_at: b.created_at}) AS page
}
OPTIONAL MATCH (at)-[:PARENT|COMPACTS*0..]->(origin:Node)
WHERE origin.turn_id = at.turn_id AND origin.round = 0
WITH c, leaf, mark, nodes, start, page, collect(origin.id) AS origins
CALL (c, nodes, page, origins) {
  WITH c, origins, nodes, [bubble IN page | bubble.turn_id] AS turns
  WITH c, origins, [n IN reverse(nodes) WHERE n.turn_id IN turns AND n.kind = 'turn' AND n.round = 0] AS firsts
  UNWIND range(0, size(firsts) - 1) AS place
  WITH c, origins, place, firsts[place] AS first
  OPTIONAL MATCH (first)-[:PARENT]->(parent:Node)
  WITH place, first,
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
  WITH place, {node_id: first.id, turn_id: first.turn_id, standing: standing} AS marker
  ORDER BY place
  RETURN collect(marker) AS markers
}
RETURN page, markers, $before IS NULL OR (mark IS NOT NULL AND start IS NOT NULL) AS marked, leaf.id AS node_id, last(nodes).id AS top_id,
       last(nodes).is_root OR last(nodes):Compaction AS top_is_whole
