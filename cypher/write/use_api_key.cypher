// Note that a key was used now.
MATCH (k:ApiKey {id: $key_id})
SET k.used_at = datetime.realtime()
RETURN k.used_at AS used_at
