// A payload is stored once per workspace.
CREATE CONSTRAINT blob_key IF NOT EXISTS
FOR (b:Blob) REQUIRE (b.workspace, b.sha256) IS UNIQUE
