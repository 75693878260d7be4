// Write nodes with their parent edges; a parent stands before its children in $rows, or is stored already. Below a
// hidden parent a node is hidden too. A compaction hangs on its original instead.
UNWIND $rows AS row
CREATE (n:Node)
SET n = row.node
FOREACH (flag IN CASE WHEN row.exact THEN [1] ELSE [] END | SET n:ExactText)
WITH row, n
WHERE row.parent_id IS NOT NULL
MATCH (parent:Node {workspace: $workspace, id: row.parent_id})
FOREACH (ordinary IN CASE WHEN row.compacts THEN [] ELSE [1] END |
  CREATE (n)-[:PARENT {workspace: $workspace, child_id: row.node.id}]->(parent))
FOREACH (compacts IN CASE WHEN row.compacts THEN [1] ELSE [] END |
  SET n:Compaction
  CREATE (n)-[:COMPACTS {workspace: $workspace, compaction_id: row.node.id, readers: row.node.readers}]->(parent))
SET n.deleted_at = parent.deleted_at, n.tombstone = parent.tombstone
