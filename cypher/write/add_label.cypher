// Put a label on a node; one that is there stays as it is. No row: there is no such node, or it is hidden or being
// deleted. The node is locked, so that its deletion takes the label with it.
MATCH (n:Node {workspace: $workspace, id: $node_id})
SET n.locked = true REMOVE n.locked
WITH n
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE n.deleted_at IS NULL AND NOT c.deleting
MERGE (l:Label {workspace: $workspace, id: $label_id})
ON CREATE SET l.name = $name, l.branch = $branch, l.actor = $actor, l.created_at = datetime.realtime()
MERGE (l)-[:ON]->(n)
RETURN l.name AS name
