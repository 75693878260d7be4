// The moves of a conversation are numbered, each number once.
CREATE CONSTRAINT move_order IF NOT EXISTS
FOR (m:Move) REQUIRE (m.workspace, m.conversation_id, m.seq) IS UNIQUE
