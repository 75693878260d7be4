// One node with its parent (or, for a compaction, its original).
MATCH (n:Node {workspace: $workspace, id: $node_id})
OPTIONAL MATCH (n)-[:PARENT]->(parent:Node)
OPTIONAL MATCH (n)-[:COMPACTS]->(original:Node)
RETURN n, parent.id AS parent_id, original.id AS compacts_id
