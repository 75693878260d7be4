// The nodes that conversations own, each with the one it hangs on ('': none): two lists a conversation.
UNWIND $conversation_ids AS conversation_id
MATCH (n:Node {workspace: $workspace, conversation_id: conversation_id})
OPTIONAL MATCH (n)-[:PARENT|COMPACTS]->(above:Node)
RETURN conversation_id, collect(n.id) AS ids, collect(coalesce(above.id, '')) AS above
