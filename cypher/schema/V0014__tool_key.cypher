// What holds for a tool in the cache, and its counts.
CREATE CONSTRAINT tool_key IF NOT EXISTS
FOR (t:Tool) REQUIRE (t.workspace, t.id) IS UNIQUE
