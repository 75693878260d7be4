// What the tombstone of $node_id hides, each node with the one it hangs on and its owner: three lists.
MATCH (top:Node {workspace: $workspace, id: $node_id})
MATCH (top)<-[:PARENT|COMPACTS*0..]-(n:Node)
WHERE n.tombstone = top.id
OPTIONAL MATCH (n)-[:PARENT|COMPACTS]->(above:Node)
RETURN collect(n.id) AS ids, collect(coalesce(above.id, '')) AS above, collect(DISTINCT n.conversation_id) AS owners
