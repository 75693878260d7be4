// A key of the service by its id, and whether it opens anything now. No row: there is no such key.
MATCH (k:ApiKey {id: $key_id})
RETURN k, k.revoked_at IS NULL AND coalesce(k.expires_at > datetime.realtime(), true) AS valid,
       coalesce(k.used_at < datetime.realtime() - duration({seconds: 60}), true) AS stale
