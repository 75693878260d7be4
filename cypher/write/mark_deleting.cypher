// Mark a conversation as being deleted: from now on nobody reads it, writes to it or forks it. Repeating it is the same.
// outcome: ok | turn_in_progress
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.updated_at = datetime.realtime()
WITH c, CASE WHEN NOT c.deleting AND NOT $force AND c.turn_id IS NOT NULL AND c.turn_expires_at > datetime.realtime()
             THEN 'turn_in_progress' ELSE 'ok' END AS outcome
FOREACH (ok IN CASE WHEN outcome = 'ok' AND NOT c.deleting THEN [1] ELSE [] END |
  SET c.deleting = true, c.removals = c.removals + 1)
RETURN outcome, c.turn_id AS turn_id, c.turn_owner AS turn_owner, c.turn_expires_at AS turn_expires_at
