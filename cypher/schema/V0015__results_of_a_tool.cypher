// The cached results of a tool, to count and to remove them.
CREATE INDEX results_of_a_tool IF NOT EXISTS
FOR (r:ToolResult) ON (r.workspace, r.name)
