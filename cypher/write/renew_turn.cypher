// Give a running turn $lease_ms more from now. One row: outcome, and until when it runs.
// outcome: ok | turn_lost | gone
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = c.updated_at
WITH c, CASE WHEN c.deleting OR c.epoch <> $epoch THEN 'gone'
             WHEN coalesce(c.turn_id, '') <> $turn_id THEN 'turn_lost'
             ELSE 'ok' END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END |
  SET c.turn_expires_at = datetime.realtime() + duration({milliseconds: $lease_ms}))
RETURN outcome, c.turn_expires_at AS turn_expires_at
