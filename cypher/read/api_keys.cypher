// The keys of the service that open a workspace, newest first. Keys are few: all of them are looked through.
MATCH (k:ApiKey)
WHERE k.id IS NOT NULL AND k.workspace = $workspace
RETURN k
ORDER BY k.created_at DESC, k.id
