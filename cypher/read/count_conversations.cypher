// How many live conversations the workspace has.
MATCH (c:Conversation {workspace: $workspace})
WHERE NOT c.deleting
RETURN count(c) AS conversations
