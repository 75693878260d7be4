// Hide the branch that begins at $node_id: that node and all below it, whoever owns them, that nothing has hidden yet.
// No row: there is no such node. outcome: ok (hidden: how many nodes by this run) | below (the node is no branch's first:
// first_id is) | cursors (of these conversations are there) | turns (of these conversations run there)
// Every node is locked before anything is decided, as a move locks its target and an append its parent.
MATCH (top:Node {workspace: $workspace, id: $node_id})
SET top.locked = true REMOVE top.locked
WITH top
CALL (top) {
  MATCH (top)<-[:PARENT|COMPACTS*0..]-(n:Node)
  SET n.locked = true REMOVE n.locked
  RETURN count(n) AS locked
}
CALL (top) {
  MATCH (top)<-[:PARENT|COMPACTS*0..]-(n:Node)
  RETURN collect(n) AS branch
}
WITH top, branch, [n IN branch | n.id] AS ids
WITH top, branch, ids,
     COLLECT { UNWIND branch AS n MATCH (n)<-[:CURSOR]-(c:Conversation) WHERE NOT c.deleting RETURN DISTINCT c.id } AS cursors,
     COLLECT { UNWIND branch AS n WITH DISTINCT n.conversation_id AS owner
               MATCH (c:Conversation {workspace: $workspace, id: owner})
               WHERE c.turn_id IS NOT NULL AND c.turn_node_id IN ids
               RETURN [c.id, c.turn_id, c.turn_expires_at <= datetime.realtime()] } AS turns
WITH top, branch, cursors, turns,
     CASE WHEN top.kind <> 'compaction' AND top.round > 0 THEN 'below' WHEN size(turns) > 0 THEN 'turns'
          WHEN size(cursors) > 0 THEN 'cursors' ELSE 'ok' END AS outcome
CALL (top, branch, outcome) {
  UNWIND CASE outcome WHEN 'ok' THEN branch ELSE [] END AS n
  WITH top, n WHERE n.deleted_at IS NULL
  SET n.deleted_at = datetime.realtime(), n.tombstone = top.id
  RETURN count(n) AS hidden
}
RETURN outcome, hidden, cursors, turns, top.tombstone AS tombstone,
       head(COLLECT { MATCH (top)-[:PARENT*0..]->(first:Node) WHERE first.turn_id = top.turn_id AND first.round = 0
                      RETURN first.id }) AS first_id
