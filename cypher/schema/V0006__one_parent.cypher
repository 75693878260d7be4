// A node has one parent.
CREATE CONSTRAINT one_parent IF NOT EXISTS
FOR ()-[r:PARENT]-() REQUIRE (r.workspace, r.child_id) IS UNIQUE
