// Those of $node_ids that are stored already, with what tells whether their content is the same.
UNWIND $node_ids AS node_id
MATCH (n:Node {workspace: $workspace, id: node_id})
RETURN n.id AS id, n.sent_hash AS sent_hash, n.result_hash AS result_hash
