// A compaction has one original.
CREATE CONSTRAINT one_original IF NOT EXISTS
FOR ()-[r:COMPACTS]-() REQUIRE (r.workspace, r.compaction_id) IS UNIQUE
