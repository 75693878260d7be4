// One effect with its node, the conversation it belongs to, and whether that node is on the path to the view end.
MATCH (e:Effect {workspace: $workspace, id: $effect_id})<-[:PROPOSED]-(n:Node)
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (running:Node {workspace: $workspace, id: c.turn_node_id})
WITH e, n, c, coalesce(running, cursor) AS view_end
CALL (n, view_end) {
  MATCH (view_end)-[:PARENT|COMPACTS*0..]->(above:Node)
  WITH n, collect(above.id) AS path
  RETURN n.id IN path AS on_path
}
RETURN e, n.id AS node_id, c.id AS conversation_id, on_path
