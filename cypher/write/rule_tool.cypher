// Say what holds for a tool in the cache; results that are there already keep their expiry.
MERGE (t:Tool {workspace: $workspace, id: $name})
ON CREATE SET t.hits = 0, t.misses = 0
SET t.name = $name, t.never = $never, t.expires_ms = $expires_ms, t.scope_required = $scope_required
