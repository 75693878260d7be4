// A node's id is unique within its workspace.
CREATE CONSTRAINT node_key IF NOT EXISTS
FOR (n:Node) REQUIRE (n.workspace, n.id) IS UNIQUE
