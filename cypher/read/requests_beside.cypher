// For each step [node, the next one on the path]: at most five calls made right below the node, off the path, with the
// target's model (null: any), system prompt and tools ('': none). Five, as a parent may have very many children.
UNWIND $steps AS step
MATCH (n:Node {workspace: $workspace, id: step[0]})
CALL (n, step) {
  MATCH (n)<-[:PARENT]-(k:Node)
  WHERE k.id <> coalesce(step[1], '') AND ($model IS NULL OR k.model = $model)
    AND coalesce(k.system_hash, '') = $system_hash AND coalesce(k.tools_hash, '') = $tools_hash
  RETURN k LIMIT 5
}
RETURN n.id AS above, k.id AS node_id, k.sent AS sent, k:ExactText AS exact, k.provider AS provider, k.model AS model,
       k.system_hash AS system_hash, k.tools_hash AS tools_hash, k.response_format_hash AS response_format_hash,
       k.context_hash AS context_hash
