// A tool's result is kept once for each canonical call and scope.
CREATE CONSTRAINT tool_result_key IF NOT EXISTS
FOR (r:ToolResult) REQUIRE (r.workspace, r.id) IS UNIQUE
