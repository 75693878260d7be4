// Keep what a streaming call has received so far, apart from its returned items, and renew its turn. One row.
// outcome: ok | settled (the call is over; nothing is kept) | turn_lost | gone
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = datetime.realtime()
WITH c
MATCH (n:Node {workspace: $workspace, id: $node_id})
SET n.locked = true REMOVE n.locked
WITH c, n, CASE WHEN c.deleting OR c.epoch <> $epoch THEN 'gone'
                WHEN n.status <> 'pending' THEN 'settled'
                WHEN $exclusive AND coalesce(c.turn_id, '') <> $turn_id THEN 'turn_lost'
                ELSE 'ok' END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END | SET n.partial = $partial)
FOREACH (renew IN CASE WHEN outcome = 'ok' AND $exclusive THEN [1] ELSE [] END |
  SET c.turn_expires_at = datetime.realtime() + duration({milliseconds: $lease_ms}))
RETURN outcome, n.status AS status
