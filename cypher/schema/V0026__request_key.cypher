// A request that must take effect once has one record in its workspace.
CREATE CONSTRAINT request_key IF NOT EXISTS
FOR (r:Request) REQUIRE (r.workspace, r.key) IS UNIQUE
