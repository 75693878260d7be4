// A workspace is restored from one archive at a time.
CREATE CONSTRAINT one_restore IF NOT EXISTS
FOR (r:Restoring) REQUIRE r.workspace IS UNIQUE
