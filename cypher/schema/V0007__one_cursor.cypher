// A conversation has one cursor.
CREATE CONSTRAINT one_cursor IF NOT EXISTS
FOR ()-[r:CURSOR]-() REQUIRE (r.workspace, r.conversation_id) IS UNIQUE
