// A node derives a value for a key once.
CREATE CONSTRAINT fact_key IF NOT EXISTS
FOR (f:Fact) REQUIRE (f.workspace, f.id) IS UNIQUE
