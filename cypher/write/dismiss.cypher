// Take a branch off the list of unseen ones; its nodes stay. Repeating it changes nothing.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
OPTIONAL MATCH (c)-[unseen:UNSEEN]->(:Node {workspace: $workspace, id: $node_id})
DELETE unseen
RETURN c.id AS conversation_id, count(unseen) AS dismissed
