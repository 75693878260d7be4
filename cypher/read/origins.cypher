// The circumstances of calls, by id: what each was made with, its options, and whether it sent anything.
UNWIND $node_ids AS id
MATCH (n:Node {workspace: $workspace, id: id})
RETURN n.id AS node_id, n.provider AS provider, n.model AS model, n.system_hash AS system_hash,
       n.tools_hash AS tools_hash, n.response_format_hash AS response_format_hash, n.context_hash AS context_hash,
       size(n.sent) > 2 AND NOT n:Compaction AS sends,
       CASE WHEN n.status = 'succeeded' THEN n.response_id END AS response_id, n.options AS options
