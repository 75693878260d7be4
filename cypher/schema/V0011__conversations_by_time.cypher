// The conversations of a workspace in order of creation, for listings a page at a time.
CREATE INDEX conversations_by_time IF NOT EXISTS
FOR (c:Conversation) ON (c.workspace, c.created_at)
