// Which of $ids are conversations, also ones that are being deleted.
UNWIND $ids AS id
MATCH (c:Conversation {workspace: $workspace, id: id})
RETURN c.id AS id
