// Store a new key of the service: what it may do, and the hash of its secret. Repeating it changes nothing.
MERGE (k:ApiKey {id: $key_id})
ON CREATE SET k.workspace = $workspace, k.name = $name, k.scopes = $scopes, k.secret_hash = $secret_hash,
              k.created_at = datetime.realtime(), k.expires_at = $expires_at
RETURN k
