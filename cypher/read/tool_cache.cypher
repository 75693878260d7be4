// Each tool of the cache with what holds for it, how many results it has and how large they are, hits and misses.
MATCH (t:Tool {workspace: $workspace})
WHERE t.id IS NOT NULL
CALL (t) {
  MATCH (r:ToolResult {workspace: $workspace, name: t.id})
  RETURN count(r) AS results, sum(r.size) AS bytes, sum(r.hits) AS hits
}
RETURN t.id AS name, results, bytes, t.hits + hits AS hits, t.misses AS misses, coalesce(t.never, false) AS never,
       t.expires_ms AS expires_ms, coalesce(t.scope_required, false) AS scope_required
ORDER BY name
