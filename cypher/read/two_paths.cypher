// The ids of two nodes' history paths, newest first, and whether each reaches a root or a compaction. One row; an empty
// list: there is no such node.
OPTIONAL MATCH (left:Node {workspace: $workspace, id: $left_id})
OPTIONAL MATCH (right:Node {workspace: $workspace, id: $right_id})
CALL (left) {
  MATCH (left)-[:PARENT|COMPACTS*0..]->(n:Node)
  WITH collect(n) AS nodes
  RETURN [n IN nodes | n.id] AS left_ids, last(nodes).is_root OR last(nodes):Compaction AS left_whole
}
CALL (right) {
  MATCH (right)-[:PARENT|COMPACTS*0..]->(n:Node)
  WITH collect(n) AS nodes
  RETURN [n IN nodes | n.id] AS right_ids, last(nodes).is_root OR last(nodes):Compaction AS right_whole
}
RETURN left_ids, left_whole, right_ids, right_whole
