// The nodes of a conversation that a clear has left to be removed, each with the one it hangs on ('': none): two lists.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
MATCH (c)-[:CLEARED]->(top:Node)<-[:PARENT|COMPACTS*0..]-(n:Node)
WHERE n.conversation_id = c.id
WITH DISTINCT n
OPTIONAL MATCH (n)-[:PARENT|COMPACTS]->(above:Node)
RETURN collect(n.id) AS ids, collect(coalesce(above.id, '')) AS above
