// The labels of a name, by time: for pages of what carries it.
CREATE INDEX labels_by_name IF NOT EXISTS
FOR (l:Label) ON (l.workspace, l.name, l.created_at)
