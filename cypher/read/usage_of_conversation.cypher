// What a conversation's calls used: one row. path: the ids on the history path of its cursor. owned and inherited (what
// of that path others own): the calls of models alike in kind, provider, model and status, and of the turn $running, each
// group with its ids, times (seconds since 1970) and usages, in one order.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
CALL (c, cursor) {
  MATCH (cursor)-[:PARENT|COMPACTS*0..]->(n:Node)
  RETURN collect(n) AS path
}
CALL (c) {
  MATCH (n:Node {workspace: $workspace, conversation_id: c.id})
  WHERE n.author = 'model'
  WITH n.kind AS kind, n.turn_id = coalesce(c.turn_id, '') AS running, n.provider AS provider, n.model AS model,
       n.status AS status, collect(n.id) AS ids, collect(n.created_at.epochSeconds) AS times,
       collect(coalesce(n.usage, '')) AS usages
  RETURN collect([kind, running, provider, model, status, ids, times, usages]) AS owned
}
CALL (c, path) {
  UNWIND path AS n
  WITH c, n WHERE n.conversation_id <> c.id AND n.author = 'model'
  WITH n.provider AS provider, n.model AS model, n.status AS status, collect(n.created_at.epochSeconds) AS times,
       collect(coalesce(n.usage, '')) AS usages
  RETURN collect([provider, model, status, times, usages]) AS inherited
}
RETURN [n IN path | n.id] AS path, owned, inherited
