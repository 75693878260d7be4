// Note in conversations that data of theirs is being removed, so that contexts held by any process are read anew.
UNWIND $conversation_ids AS id
MATCH (c:Conversation {workspace: $workspace, id: id})
SET c.removals = c.removals + 1
