// Remove nodes for good, with the relationships that are expected on them; any other one makes the statement fail.
// Nodes come with all that hangs on them, in this batch or an earlier one. If something outside still hangs on one,
// nothing is removed, and blocked has up to ten of these: the node, and whose the child or the cursor is.
// Most batches carry nothing but edges of the tree; what else there may be is looked for in the others only (busy).
// A move that pointed to a node keeps its id. Blobs that nothing uses any more go with the last node that did.
UNWIND $node_ids AS id
MATCH (n:Node {workspace: $workspace, id: id})
SET n.locked = true REMOVE n.locked
WITH collect(n) AS nodes
CALL (nodes) {
  UNWIND nodes AS n
  MATCH (n)-[r]-()
  RETURN collect(DISTINCT type(r)) AS types
}
WITH nodes, CASE WHEN all(type IN types WHERE type IN ['PARENT', 'COMPACTS', 'USES']) THEN [] ELSE nodes END AS busy
WITH nodes, busy,
     COLLECT { UNWIND nodes AS n
               MATCH (n)<-[:PARENT|COMPACTS]-(k:Node) WHERE NOT k.id IN $node_ids
               RETURN [n.id, k.conversation_id] LIMIT 10 }
     + COLLECT { UNWIND busy AS n
                 MATCH (n)<-[:CURSOR|FORKED_AT]-(o:Conversation) WHERE o.id <> $conversation_id
                 RETURN [n.id, o.id] LIMIT 10 } AS blocked
WITH blocked, CASE WHEN size(blocked) = 0 THEN nodes ELSE [] END AS nodes,
     CASE WHEN size(blocked) = 0 THEN busy ELSE [] END AS busy
CALL (nodes) {
  UNWIND nodes AS n
  MATCH (n)-[up:PARENT|COMPACTS]->(:Node)
  DELETE up
}
CALL (busy) {
  UNWIND busy AS n
  MATCH (n)<-[own:CURSOR|FORKED_AT|STARTS|UNSEEN|CLEARED]-(:Conversation)
  DELETE own
}
CALL (busy) {
  UNWIND busy AS n
  MATCH (n)<-[to:TO]-(m:Move)
  SET m.to_id = n.id
  DELETE to
}
CALL (busy) {
  UNWIND busy AS n
  MATCH (n)<-[from:FROM]-(m:Move)
  SET m.from_id = n.id
  DELETE from
}
CALL (busy) {
  UNWIND busy AS n
  MATCH (n)-[own:PROPOSED|DERIVED]->(made:Effect|Fact)
  DELETE own, made
}
CALL (busy) {
  UNWIND busy AS n
  MATCH (n)<-[own:ON|ABOUT|SUMMARIZES]-(said:Label|Feedback|Summary)
  DELETE own, said
}
CALL (busy) {
  UNWIND busy AS n
  MATCH (n)<-[of:OF]-(b:Bubble)
  DELETE of, b
  RETURN count(b) AS bubbles
}
CALL (nodes) {
  UNWIND nodes AS n
  MATCH (n)-[use:USES]->(b:Blob)
  DELETE use
  RETURN collect(DISTINCT b) AS used
}
CALL (nodes) {
  UNWIND nodes AS n
  DELETE n
}
CALL (used) {
  UNWIND used AS b
  WITH b ORDER BY b.sha256
  SET b.locked = true REMOVE b.locked
  WITH b WHERE b.setting IS NULL AND NOT EXISTS { (b)<-[:USES]-() }
  DELETE b
}
RETURN size(nodes) AS deleted, bubbles, blocked
