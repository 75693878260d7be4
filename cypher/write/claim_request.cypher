// Take a request that must take effect once. One row: outcome, and the answer given before.
// outcome: ok (carry it out; $claim_id holds it for $lease_ms) | answered | running | other (another request used the key)
MERGE (r:Request {workspace: $workspace, key: $key})
ON CREATE SET r.fingerprint = $fingerprint, r.claimed_at = datetime.realtime()
SET r.workspace = r.workspace
WITH r, datetime.realtime() AS now
WITH r, now, CASE WHEN r.fingerprint <> $fingerprint THEN 'other'
                  WHEN r.status IS NOT NULL THEN 'answered'
                  WHEN r.claim_id IS NOT NULL AND r.claim_id <> $claim_id
                       AND r.claimed_at + duration({milliseconds: $lease_ms}) > now THEN 'running'
                  ELSE 'ok' END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END | SET r.claim_id = $claim_id, r.claimed_at = now)
RETURN outcome, r.status AS status, r.headers AS headers, r.body AS body
