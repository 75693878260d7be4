// End a key of this workspace: at once, or $grace_ms from now. Ending it later than it would have ended changes nothing.
MATCH (k:ApiKey {id: $key_id})
WHERE k.workspace = $workspace
SET k.name = k.name
WITH k, datetime.realtime() AS now
WITH k, now, now + duration({milliseconds: $grace_ms}) AS until
SET k.revoked_at = CASE WHEN $grace_ms = 0 THEN coalesce(k.revoked_at, now) ELSE k.revoked_at END,
    k.expires_at = CASE WHEN $grace_ms > 0 AND coalesce(k.expires_at > until, true) THEN until ELSE k.expires_at END
RETURN k
