// A move's id is the id of the operation that made it: a repeated operation finds its first result.
CREATE CONSTRAINT move_key IF NOT EXISTS
FOR (m:Move) REQUIRE (m.workspace, m.id) IS UNIQUE
