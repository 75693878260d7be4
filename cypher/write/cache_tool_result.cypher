// Keep a tool's result in place of the one that was there, unless the tool is never cached. One row.
// outcome: ok | never | no_scope. The tool is locked, so that nothing is kept once it is declared uncacheable.
MERGE (t:Tool {workspace: $workspace, id: $name})
ON CREATE SET t.hits = 0, t.misses = 0
SET t.name = $name
WITH t, datetime.realtime() AS now, coalesce($expires_ms, t.expires_ms) AS lasts
WITH now, CASE WHEN lasts IS NOT NULL THEN now + duration({milliseconds: lasts}) END AS expires_at,
     CASE WHEN t.never THEN 'never' WHEN t.scope_required AND $scope = '' THEN 'no_scope' ELSE 'ok' END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END |
  MERGE (r:ToolResult {workspace: $workspace, id: $key})
  ON CREATE SET r.hits = 0
  SET r.name = $name, r.scope = $scope, r.output = $output, r.size = $size, r.created_at = now,
      r.expires_at = expires_at)
WITH outcome
OPTIONAL MATCH (r:ToolResult {workspace: $workspace, id: $key})
WHERE outcome = 'ok'
CALL (r) {
  MATCH (r)-[use:USES]->(b:Blob)
  WHERE NOT b.sha256 IN [blob IN $blobs | blob.sha256]
  DELETE use
  RETURN collect(DISTINCT b) AS unused
}
FOREACH (blob IN CASE WHEN r IS NULL THEN [] ELSE $blobs END |
  MERGE (b:Blob {workspace: $workspace, sha256: blob.sha256})
  ON CREATE SET b.data = blob.data, b.size = blob.size, b.media_type = blob.media_type
  SET b.locked = true REMOVE b.locked
  MERGE (r)-[:USES]->(b))
WITH outcome, unused
CALL (unused) {
  UNWIND unused AS b
  WITH b ORDER BY b.sha256
  SET b.locked = true REMOVE b.locked
  WITH b WHERE b.setting IS NULL AND NOT EXISTS { (b)<-[:USES]-() }
  DELETE b
}
RETURN outcome
