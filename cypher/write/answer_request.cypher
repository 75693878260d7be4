// Keep what a claimed request was answered; with $status null let it go, for it did nothing and may be tried again.
MATCH (r:Request {workspace: $workspace, key: $key})
SET r.workspace = r.workspace
WITH r WHERE r.claim_id = $claim_id AND r.status IS NULL
FOREACH (keep IN CASE WHEN $status IS NULL THEN [] ELSE [1] END |
  SET r.status = $status, r.headers = $headers, r.body = $body)
FOREACH (let_go IN CASE WHEN $status IS NULL THEN [1] ELSE [] END | DELETE r)
RETURN count(*) AS found
