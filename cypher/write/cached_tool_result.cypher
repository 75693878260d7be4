// A tool's cached result, counted as a hit; or nothing, counted as a miss of that tool. One row.
// outcome: hit | miss | never (the tool is not cached, and nothing is counted) | no_scope (the tool needs one)
OPTIONAL MATCH (t:Tool {workspace: $workspace, id: $name})
OPTIONAL MATCH (r:ToolResult {workspace: $workspace, id: $key})
WHERE r.expires_at IS NULL OR r.expires_at > datetime.realtime()
WITH r, CASE WHEN t.never THEN 'never' WHEN t.scope_required AND $scope = '' THEN 'no_scope'
             WHEN r IS NULL THEN 'miss' ELSE 'hit' END AS outcome
FOREACH (hit IN CASE outcome WHEN 'hit' THEN [r] ELSE [] END |
  SET hit.name = $name
  SET hit.hits = hit.hits + 1)
FOREACH (miss IN CASE outcome WHEN 'miss' THEN [1] ELSE [] END |
  MERGE (counted:Tool {workspace: $workspace, id: $name})
  ON CREATE SET counted.hits = 0, counted.misses = 0
  SET counted.name = $name
  SET counted.misses = counted.misses + 1)
RETURN outcome, CASE outcome WHEN 'hit' THEN r END AS result,
       COLLECT { MATCH (r)-[:USES]->(b:Blob) WHERE outcome = 'hit' RETURN [b.sha256, b.data] } AS blobs
