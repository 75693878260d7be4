// How a call was made: what it sent, with what options and settings, and the fingerprint of all that its model got.
// late: the nodes above it that were completed only after it began (a lost call's late answer).
// erased: those above it, and itself, whose content was blanked.
MATCH (n:Node {workspace: $workspace, id: $node_id})
OPTIONAL MATCH (format:Blob {workspace: $workspace, sha256: n.response_format_hash})
OPTIONAL MATCH (parameters:Blob {workspace: $workspace, sha256: n.parameters_hash})
CALL (n) {
  MATCH (n)-[:PARENT|COMPACTS*0..]->(above:Node)
  RETURN [a IN collect(above) WHERE a <> n AND a.finished_at > n.created_at | a.id] AS late,
         [a IN collect(above) WHERE a.erased_at IS NOT NULL | a.id] AS erased
}
RETURN n.sent AS sent, n:ExactText AS exact, n:Compaction AS is_compaction, n.context_hash AS context_hash,
       n.options AS options, n.provider AS provider, n.model AS model, n.response_format_hash AS response_format_hash,
       format.data AS response_format, parameters.data AS parameters, late, erased
