// Nodes by id, each with its parent (or, for a compaction, its original).
UNWIND $node_ids AS id
MATCH (n:Node {workspace: $workspace, id: id})
OPTIONAL MATCH (n)-[:PARENT]->(parent:Node)
OPTIONAL MATCH (n)-[:COMPACTS]->(original:Node)
RETURN n, parent.id AS parent_id, original.id AS compacts_id
