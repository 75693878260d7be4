// Take the tombstone off $node_id: what it hid is seen again, or stays hidden by the tombstone of a branch around it.
// No row: there is no such node.
MATCH (top:Node {workspace: $workspace, id: $node_id})
SET top.locked = true REMOVE top.locked
WITH top
OPTIONAL MATCH (top)-[:PARENT|COMPACTS]->(above:Node)
WITH top, above.deleted_at AS deleted_at, above.tombstone AS tombstone
CALL (top, deleted_at, tombstone) {
  MATCH (top)<-[:PARENT|COMPACTS*0..]-(n:Node)
  WHERE n.tombstone = top.id
  SET n.deleted_at = deleted_at, n.tombstone = tombstone
  RETURN count(n) AS restored
}
RETURN restored, tombstone AS still_hidden_by
