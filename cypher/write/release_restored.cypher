// Let a page of restored conversations be read and written: until now each was marked as being deleted. last: null at the
// end.
MATCH (c:Conversation {workspace: $workspace})
WHERE c.id > $after
WITH c ORDER BY c.id LIMIT $limit
FOREACH (held IN CASE WHEN c.restoring IS NULL THEN [] ELSE [c] END | SET held.deleting = held.restoring)
SET c.restoring = null
RETURN max(c.id) AS last
