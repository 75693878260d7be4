// Of nodes by id: the turn of each, and whether it is a compaction. One row.
UNWIND $node_ids AS id
MATCH (n:Node {workspace: $workspace, id: id})
RETURN collect([n.id, n.turn_id, n:Compaction]) AS turns
