// Delete records of requests older than $age_ms, at most $limit. One row: how many went.
MATCH (r:Request)
WHERE r.claimed_at < datetime.realtime() - duration({milliseconds: $age_ms})
WITH r LIMIT $limit
SET r.workspace = r.workspace
DELETE r
RETURN count(*) AS swept
