// The history path that was the cursor's just before $until, newest first, with the bubbles of
// then, newest first. One row. node_id: where the cursor was (null: nowhere yet, or cleared), also when that node is gone since.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
CALL (c) {
  OPTIONAL MATCH (c)-[:MOVED]->(m:Move)
  WHERE m.accepted AND m.at < $until
  RETURN m ORDER BY m.seq DESC LIMIT 1
}
OPTIONAL MATCH (m)-[:TO]->(leaf:Node)
CALL (leaf) {
  MATCH (leaf)-[:PARENT|COMPACTS*0..]->(n:Node)
  RETURN collect(n) AS nodes
}
CALL (nodes) {
  UNWIND range(0, size(nodes) - 1) AS place
  WITH place, nodes[place] AS n
  MATCH (n)<-[:OF]-(b:Bubble)
  WHERE b.created_at < $until
  WITH place, n, b ORDER BY place, b.created_at DESC, b.id DESC
  RETURN collect({id: b.id, node_id: n.id, turn_id: n.turn_id, content: b.content, created_at: b.created_at}) AS page
}
RETURN coalesce(leaf.id, m.to_id) AS node_id,
       [n IN nodes | n.id] AS path, [n IN nodes WHERE n.erased_at IS NOT NULL | n.id] AS erased, page,
       last(nodes).id AS top_id, last(nodes).is_root OR last(nodes):Compaction AS top_is_whole
