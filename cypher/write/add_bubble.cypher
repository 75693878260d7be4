// Put a bubble on a node; the same again changes nothing. No row: there is no such node.
// The node's lock orders this with its removal. outcome: ok | repeated | conflict | gone
MATCH (n:Node {workspace: $workspace, id: $node_id})
SET n.locked = true REMOVE n.locked
WITH n, datetime.realtime() AS now
OPTIONAL MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
OPTIONAL MATCH (known:Bubble {workspace: $workspace, id: $bubble_id})
OPTIONAL MATCH (known)-[:OF]->(of:Node)
WITH n, now,
     CASE WHEN known IS NOT NULL THEN
            CASE WHEN known.content = $content AND of.id = n.id THEN 'repeated' ELSE 'conflict' END
          WHEN c IS NULL OR c.deleting THEN 'gone'
          ELSE 'ok' END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END |
  CREATE (:Bubble {workspace: $workspace, id: $bubble_id, content: $content, created_at: now})-[:OF]->(n))
RETURN outcome
