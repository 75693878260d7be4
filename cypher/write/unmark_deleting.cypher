// Take back the mark of a deletion that was refused before it removed anything.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
SET c.deleting = false
