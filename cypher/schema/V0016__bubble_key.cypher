// A bubble's id is unique within its workspace.
CREATE CONSTRAINT bubble_key IF NOT EXISTS
FOR (b:Bubble) REQUIRE (b.workspace, b.id) IS UNIQUE
