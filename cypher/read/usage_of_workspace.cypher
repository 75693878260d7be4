// What the calls of a workspace used, of every branch, hidden ones too: a row for each metadata of a conversation,
// provider, model and status, with times (seconds since 1970) and usages in one order.
// Only calls begun at or after $since and before $until (null: no bound).
MATCH (c:Conversation {workspace: $workspace})
WHERE c.id IS NOT NULL AND NOT c.deleting
MATCH (n:Node {workspace: $workspace, conversation_id: c.id})
WHERE n.author = 'model' AND ($since IS NULL OR n.created_at >= $since) AND ($until IS NULL OR n.created_at < $until)
RETURN c.metadata AS metadata, n.provider AS provider, n.model AS model, n.status AS status,
       collect(n.created_at.epochSeconds) AS times, collect(coalesce(n.usage, '')) AS usages
