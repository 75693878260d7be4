// Start a conversation at a node of another: its cursor is set there, nothing is copied.
// No row: there is no such node. outcome: ok | repeated | conflict | gone
MATCH (target:Node {workspace: $workspace, id: $node_id})
SET target.locked = true REMOVE target.locked
WITH target, datetime.realtime() AS now
OPTIONAL MATCH (origin:Conversation {workspace: $workspace, id: target.conversation_id})
OPTIONAL MATCH (known:Conversation {workspace: $workspace, id: $conversation_id})
OPTIONAL MATCH (known)-[:FORKED_AT]->(known_at:Node)
WITH target, now, origin,
     CASE WHEN known IS NOT NULL THEN
            CASE WHEN known.operation_id = $operation_id AND known_at.id = $node_id AND known.metadata = $metadata
                      AND ($title IS NULL OR known.title = $title) THEN 'repeated' ELSE 'conflict' END
          WHEN target.deleted_at IS NOT NULL OR coalesce(origin.deleting, false) THEN 'gone'
          ELSE 'ok' END AS outcome
FOREACH (ok IN CASE WHEN outcome = 'ok' THEN [1] ELSE [] END |
  CREATE (c:Conversation {workspace: $workspace, id: $conversation_id, title: coalesce($title, origin.title),
                          metadata: $metadata, operation_id: $operation_id, created_at: now, updated_at: now,
                          version: 1, epoch: 0, moves: 1, removals: 0, deleting: false,
                          compacted: coalesce(origin.compacted, false), forked_from: target.conversation_id})
  CREATE (c)-[:FORKED_AT]->(target)
  CREATE (c)-[:CURSOR {workspace: $workspace, conversation_id: $conversation_id}]->(target)
  CREATE (c)-[:MOVED]->(m:Move {workspace: $workspace, id: $operation_id, conversation_id: $conversation_id, seq: 1,
                                at: now, reason: 'fork', actor: $actor, accepted: true})
  CREATE (m)-[:TO]->(target))
RETURN outcome
