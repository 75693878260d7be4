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
RETURN outcome
