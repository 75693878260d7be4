// Take an effect from one of $expected to $status, with what is to be recorded of it. No row: there is no such effect.
// claimed says whether it must have been claimed before, or must not. outcome: ok | repeated | finished (the same status
// with another record) | state | claimed | unclaimed
MATCH (e:Effect {workspace: $workspace, id: $effect_id})
SET e.name = e.name
WITH e, CASE
       WHEN e.status = $status THEN CASE WHEN e.change_hash = $change_hash THEN 'repeated' ELSE 'finished' END
       WHEN NOT e.status IN $expected THEN 'state'
       WHEN $claimed AND e.claim_id IS NULL THEN 'unclaimed'
       WHEN NOT $claimed AND e.claim_id IS NOT NULL THEN 'claimed'
       ELSE 'ok' END AS outcome, datetime.realtime() AS now
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END |
  SET e += $change, e.status = $status, e.change_hash = $change_hash,
      e.decided_at = CASE WHEN $status IN ['approved', 'rejected'] THEN now ELSE e.decided_at END,
      e.finished_at = CASE WHEN $status IN ['done', 'failed'] THEN now ELSE e.finished_at END,
      e.compensated_at = CASE WHEN $status = 'compensated' THEN now END)
RETURN outcome, e.status AS status, e.name AS name, e.worker AS worker
