// How much a workspace holds, and what waits in it for somebody: one row.
// (An index over two properties serves only who asks for both: hence id IS NOT NULL.)
// stuck: turns whose lease ran out and that nobody has settled yet. unseen: branches kept after a lost race.
CALL () {
  MATCH (c:Conversation {workspace: $workspace})
  WHERE c.id IS NOT NULL AND NOT c.deleting
  RETURN count(c) AS conversations,
         [x IN collect(CASE WHEN c.turn_expires_at <= datetime.realtime()
                            THEN {conversation_id: c.id, turn_id: c.turn_id, since: c.turn_expires_at} END) | x] AS stuck
}
CALL () {
  MATCH (n:Node {workspace: $workspace})
  WHERE n.id IS NOT NULL AND n.deleted_at IS NULL
  RETURN count(n) AS nodes, sum(CASE WHEN n.status = 'pending' THEN 1 ELSE 0 END) AS pending
}
CALL () {
  MATCH (c:Conversation {workspace: $workspace})-[:UNSEEN]->(n:Node)
  WHERE c.id IS NOT NULL AND NOT c.deleting AND n.deleted_at IS NULL
  RETURN collect({conversation_id: c.id, node_id: n.id}) AS unseen
}
RETURN conversations, nodes, pending, stuck, unseen
