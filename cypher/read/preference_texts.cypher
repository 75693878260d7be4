// What the rows of one conversation are made of: the history path of $leaf_id, root first, a list per column; what the
// nodes of $node_ids returned; and the settings of $hashes. No row: the leaf is gone.
MATCH (leaf:Node {workspace: $workspace, id: $leaf_id})
MATCH (leaf)-[:PARENT|COMPACTS*0..]->(n:Node)
WITH reverse(collect(n)) AS path
RETURN [n IN path | n.id] AS ids, [n IN path | n.sent] AS sent, [n IN path | n.returned] AS returned,
       [n IN path | n.call_ids] AS call_ids, [n IN path | n.result_ids] AS result_ids,
       [n IN path WHERE n:Compaction | [n.id, n.readers]] AS compactions,
       [n IN path WHERE n:ExactText | n.id] AS exact,
       COLLECT { MATCH (s:Node {workspace: $workspace}) WHERE s.id IN $node_ids
                 RETURN [s.id, s.returned, s:ExactText] } AS siblings,
       COLLECT { MATCH (b:Blob {workspace: $workspace}) WHERE b.sha256 IN $hashes
                 RETURN [b.sha256, b.data] } AS settings
