// Where a switch to a branch leads: the node at or below $node_id that was this conversation's cursor most recently,
// else its newest turn-end there. No leaf_id: the branch is not this conversation's. A node is when the conversation owns
// it, stands on it, or was there; what others grew on a shared prefix is not, nor what a clear left to be removed.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
WITH c, c.epoch AS epoch, EXISTS { (c)-[:CLEARED]->(:Node) } AS clearing
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (c)-[:FORKED_AT]->(at:Node)
OPTIONAL MATCH (top:Node {workspace: $workspace, id: $node_id})
WHERE (top.conversation_id = c.id
       OR EXISTS { (cursor)-[:PARENT|COMPACTS*0..]->(top) }
       OR EXISTS { (at)-[:PARENT|COMPACTS*0..]->(top) }
       OR EXISTS { (top)<-[:TO]-(:Move {conversation_id: c.id, accepted: true}) })
  AND NOT (clearing AND EXISTS { (top)-[:PARENT|COMPACTS*0..]->(:Node)<-[:CLEARED]-(c) })
OPTIONAL MATCH (top)<-[:PARENT|COMPACTS*0..]-(n:Node)
WHERE n.kind <> 'conversion' AND n.deleted_at IS NULL AND coalesce(n.failure_kind, '') <> 'context_overflow'
WITH c, epoch, cursor, top, n,
     head(COLLECT { MATCH (n)<-[:TO]-(m:Move {conversation_id: c.id, accepted: true})
                    RETURN m.seq ORDER BY m.seq DESC LIMIT 1 }) AS seen,
     n.conversation_id = c.id
       AND NOT EXISTS { (n)<-[:PARENT]-(next:Node) WHERE next.turn_id = n.turn_id AND next.deleted_at IS NULL
                        AND coalesce(next.failure_kind, '') <> 'context_overflow' } AS ends_turn
ORDER BY coalesce(seen, -1) DESC, ends_turn DESC, n.created_at DESC, n.id DESC
WITH c, epoch, cursor, top,
     head(collect(CASE WHEN n = top OR n.conversation_id = c.id OR seen IS NOT NULL THEN n END)) AS leaf
RETURN epoch, cursor.id AS cursor, top.id AS top_id, top.conversation_id AS owner, leaf.id AS leaf_id
