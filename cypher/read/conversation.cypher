// One conversation with its cursor, running turn and where it was forked.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (c)-[:FORKED_AT]->(at:Node)
RETURN c.id AS id, c.title AS title, c.created_at AS created_at, c.updated_at AS updated_at, c.version AS version,
       c.epoch AS epoch, c.source AS source, c.source_id AS source_id, c.metadata AS metadata,
       c.forked_from AS forked_from, at.id AS forked_at, cursor.id AS cursor,
       c.turn_id AS turn_id, c.turn_owner AS turn_owner, c.turn_expires_at AS turn_expires_at,
       c.turn_node_id AS turn_node_id, c.turn_expires_at <= datetime.realtime() AS turn_expired
