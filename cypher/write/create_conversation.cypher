// Make a conversation; repeated with the same id it gives the one that is there ($operation_id tells them apart).
MERGE (c:Conversation {workspace: $workspace, id: $conversation_id})
ON CREATE SET c.title = $title, c.metadata = $metadata, c.operation_id = $operation_id,
              c.created_at = datetime.realtime(), c.updated_at = datetime.realtime(),
              c.version = 0, c.epoch = 0, c.moves = 0, c.removals = 0, c.deleting = false, c.compacted = false
RETURN c.operation_id = $operation_id
       OR (coalesce(c.title, '') = coalesce($title, '') AND c.metadata = $metadata
           AND c.forked_from IS NULL AND c.source IS NULL AND NOT c.deleting) AS same
