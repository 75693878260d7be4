// Remove at most $limit cached results: of a tool, of one call ($key), of a scope, or those that have expired (each null
// or false: whichever). The hits they had are kept with their tools. Tools are locked first, as whoever adds results does.
MATCH (r:ToolResult {workspace: $workspace})
WHERE r.name IS NOT NULL AND ($name IS NULL OR r.name = $name) AND ($key IS NULL OR r.id = $key)
  AND ($scope IS NULL OR r.scope = $scope) AND (NOT $expired OR r.expires_at <= datetime.realtime())
WITH r.name AS name, r.id AS id LIMIT $limit
WITH name, collect(id) AS ids ORDER BY name
MATCH (t:Tool {workspace: $workspace, id: name})
SET t.name = name
WITH t, ids
UNWIND ids AS id
MATCH (r:ToolResult {workspace: $workspace, id: id})
WHERE NOT $expired OR r.expires_at <= datetime.realtime()
SET r.name = t.id
WITH t, collect(r) AS results, sum(r.hits) AS hits
SET t.hits = t.hits + hits
WITH results
CALL (results) {
  UNWIND results AS r
  MATCH (r)-[use:USES]->(b:Blob)
  DELETE use
  RETURN collect(DISTINCT b) AS used
}
FOREACH (r IN results | DELETE r)
WITH results, used
CALL (used) {
  UNWIND used AS b
  WITH b ORDER BY b.sha256
  SET b.locked = true REMOVE b.locked
  WITH b WHERE b.setting IS NULL AND NOT EXISTS { (b)<-[:USES]-() }
  DELETE b
}
RETURN sum(size(results)) AS evicted
