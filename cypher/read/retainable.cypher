// A page of conversations, in order of id from $after on, with what rules about keeping ask of them. idle_days: since the
// last change (updated_at), by the server's clock. labels: those on its nodes. forks: of conversations that stand on its nodes.
MATCH (c:Conversation {workspace: $workspace})
WHERE c.id > $after
WITH c ORDER BY c.id LIMIT $limit
RETURN c.id AS id, c.metadata AS metadata, toString(c.updated_at) AS updated_at, c.deleting AS deleting, c.turn_id IS NOT NULL AS running,
       duration.inSeconds(c.updated_at, datetime.realtime()).seconds / 86400.0 AS idle_days,
       COUNT { MATCH (n:Node {workspace: $workspace, conversation_id: c.id}) } AS nodes,
       COLLECT { MATCH (n:Node {workspace: $workspace, conversation_id: c.id})<-[:ON]-(l:Label)
                 RETURN DISTINCT l.name } AS labels
ORDER BY id
