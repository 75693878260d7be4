// Link conversations to the roots of their turns.
UNWIND $roots AS root
MATCH (c:Conversation {workspace: $workspace, id: root.conversation_id})
MATCH (n:Node {workspace: $workspace, id: root.node_id})
CREATE (c)-[:STARTS]->(n)
