// A branch has one summary.
CREATE CONSTRAINT summary_key IF NOT EXISTS
FOR (s:Summary) REQUIRE (s.workspace, s.id) IS UNIQUE
