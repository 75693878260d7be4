// Mark a conversation as being deleted: from now on nobody reads it, writes to it or forks it. Repeating it is the same.
// $unchanged_since: the time of its last change as it was when the deletion was decided, if that counts.
// outcome: ok | turn_in_progress | changed
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.locked = true REMOVE c.locked
WITH c, CASE WHEN NOT c.deleting AND $unchanged_since IS NOT NULL AND toString(c.updated_at) <> $unchanged_since THEN 'changed'
             WHEN NOT c.deleting AND NOT $force AND c.turn_id IS NOT NULL AND c.turn_expires_at > datetime.realtime()
             THEN 'turn_in_progress' ELSE 'ok' END AS outcome
FOREACH (ok IN CASE WHEN outcome = 'ok' AND NOT c.deleting THEN [1] ELSE [] END |
  SET c.deleting = true, c.updated_at = datetime.realtime(), c.removals = c.removals + 1)
RETURN outcome, c.turn_id AS turn_id, c.turn_owner AS turn_owner, c.turn_expires_at AS turn_expires_at
