// How many live conversations the workspace has.
MATCH (c:Conversation {workspace: $workspace})
WHERE c.id IS NOT NULL AND NOT c.deleting
RETURN count(c) AS conversations
