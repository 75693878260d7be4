// The nodes a conversation owns, each with the one it hangs on ('': none): two lists.
MATCH (n:Node {workspace: $workspace, conversation_id: $conversation_id})
OPTIONAL MATCH (n)-[:PARENT|COMPACTS]->(above:Node)
RETURN collect(n.id) AS ids, collect(coalesce(above.id, '')) AS above
