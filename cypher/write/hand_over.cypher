// Give nodes to another conversation that stands on them; with $erase their content is blanked first.
// handed: 0 and no change when the heir is not there any more.
MATCH (heir:Conversation {workspace: $workspace, id: $heir_id})
SET heir.updated_at = heir.updated_at
WITH heir
UNWIND $node_ids AS id
MATCH (n:Node {workspace: $workspace, id: id})
WHERE n.conversation_id = $conversation_id
SET n.conversation_id = heir.id
FOREACH (blank IN CASE WHEN $erase THEN [1] ELSE [] END |
  SET n += $blank, n.erased_at = datetime.realtime(), n.call_ids = null, n.result_ids = null,
      n.returned = CASE WHEN n.returned IS NULL THEN null ELSE $blank_returned END
  REMOVE n:ExactText, n:Heavy)
WITH heir, n
CALL (n) {
  MATCH (n)-[:PROPOSED]->(e:Effect)
  WHERE $erase
  SET e.arguments = '{}', e.compensation = null, e.result = null, e.compensation_result = null, e.proposal_hash = null
}
CALL (n) {
  MATCH (n)-[:DERIVED]->(f:Fact)
  WHERE $erase
  SET f.value = 'null', f.outside = null, f.value_hash = null
}
CALL (n) {
  MATCH (n)<-[:OF]-(b:Bubble)
  WHERE $erase
  SET b.content = '{"text":"[erased]"}'
}
CALL (n) {
  MATCH (n)<-[:ABOUT]-(f:Feedback)
  WHERE $erase
  SET f.text = CASE WHEN f.text IS NULL THEN null ELSE '[erased]' END, f.given_hash = null
}
CALL (n) {
  MATCH (n)<-[:SUMMARIZES]-(s:Summary)
  WHERE $erase
  SET s.text = '[erased]'
}
WITH heir, n
OPTIONAL MATCH (:Conversation {workspace: $workspace, id: $conversation_id})-[start:STARTS|CLEARED]->(n)
FOREACH (old IN CASE WHEN start IS NULL THEN [] ELSE [start] END | DELETE old)
FOREACH (root IN CASE WHEN n.is_root THEN [n] ELSE [] END | CREATE (heir)-[:STARTS]->(root))
WITH collect(DISTINCT n) AS nodes
CALL (nodes) {
  UNWIND nodes AS n
  MATCH (n)-[use:USES]->(b:Blob)
  WHERE $erase
  DELETE use
  RETURN collect(DISTINCT b) AS used
}
CALL (used) {
  UNWIND used AS b
  WITH b ORDER BY b.sha256
  SET b.locked = true REMOVE b.locked
  WITH b WHERE b.setting IS NULL AND NOT EXISTS { (b)<-[:USES]-() }
  DELETE b
}
RETURN size(nodes) AS handed
