// Make (or lock) the conversations of a batch, in order of id; tells which were there before.
UNWIND $conversations AS row
MERGE (c:Conversation {workspace: $workspace, id: row.id})
ON CREATE SET c.title = row.title, c.source = row.source, c.source_id = row.source_id, c.metadata = row.metadata,
              c.operation_id = row.id, c.created_at = coalesce(row.created_at, datetime.realtime()),
              c.version = 0, c.imported_version = 0, c.epoch = 0, c.moves = 0, c.removals = 0,
              c.deleting = false, c.compacted = false, c.importing = true
SET c.updated_at = CASE WHEN c.updated_at IS NULL THEN coalesce(row.updated_at, datetime.realtime())
                        WHEN row.updated_at > c.updated_at THEN row.updated_at
                        ELSE c.updated_at END
FOREACH (compacted IN CASE WHEN row.compacted THEN [1] ELSE [] END | SET c.compacted = true)
WITH c, coalesce(c.importing, false) AS created
REMOVE c.importing
RETURN c.id AS id, created, c.deleting AS deleting
