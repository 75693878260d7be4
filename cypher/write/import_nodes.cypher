// Write nodes with their parent edges; a parent stands before its children in $rows, or is stored already. Below a
// hidden parent a node is hidden too.
UNWIND $rows AS row
CREATE (n:Node)
SET n = row.node
FOREACH (flag IN CASE WHEN row.exact THEN [1] ELSE [] END | SET n:ExactText)
WITH row, n
WHERE row.parent_id IS NOT NULL
MATCH (parent:Node {workspace: $workspace, id: row.parent_id})
CREATE (n)-[:PARENT {workspace: $workspace, child_id: row.node.id}]->(parent)
SET n.deleted_at = parent.deleted_at, n.tombstone = parent.tombstone
