// The effects of the nodes a conversation owns, in the order they were proposed: each with its node, whether that is on
// the path to the view end, and whether it is on the path of $node_id.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (running:Node {workspace: $workspace, id: c.turn_node_id})
OPTIONAL MATCH (named:Node {workspace: $workspace, id: $node_id})
WITH c, coalesce(running, cursor) AS view_end, named
WITH c,
     COLLECT { MATCH (view_end)-[:PARENT|COMPACTS*0..]->(n:Node) MATCH (n)-[:PROPOSED]->(e:Effect) RETURN e.id } AS on_path,
     COLLECT { MATCH (named)-[:PARENT|COMPACTS*0..]->(n:Node) MATCH (n)-[:PROPOSED]->(e:Effect) RETURN e.id } AS on_named
MATCH (n:Node {workspace: $workspace, conversation_id: c.id})-[:PROPOSED]->(e:Effect)
RETURN e, n.id AS node_id, c.id AS conversation_id, e.id IN on_path AS on_path, e.id IN on_named AS on_named
ORDER BY e.proposed_at, e.id
