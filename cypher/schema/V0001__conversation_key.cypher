// A conversation's id is unique within its workspace.
CREATE CONSTRAINT conversation_key IF NOT EXISTS
FOR (c:Conversation) REQUIRE (c.workspace, c.id) IS UNIQUE
