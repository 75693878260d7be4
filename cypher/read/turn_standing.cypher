// A call and the turn it belongs to, as they stand, for whoever goes on with the turn in another process.
// started_from: where the cursor was when the turn began. ended: the turn ended with this call.
// mine: the conversation's running turn is this one. epoch is null when the call is being cleared away.
MATCH (n:Node {workspace: $workspace, id: $node_id})
MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
WHERE NOT c.deleting AND n.kind = 'turn'
WITH c, n, coalesce(c.turn_id, '') = n.turn_id AS mine
MATCH (n) ((below:Node)-[:PARENT|COMPACTS]->(above:Node) WHERE above.turn_id = below.turn_id){0,} (first:Node)
WHERE first.round = 0 AND first.kind = 'turn'
WITH c, n, mine, first LIMIT 1
OPTIONAL MATCH (n)-[:PARENT]->(parent:Node)
OPTIONAL MATCH (first)-[:PARENT]->(start:Node)
OPTIONAL MATCH (system:Blob {workspace: $workspace, sha256: n.system_hash})
OPTIONAL MATCH (tools:Blob {workspace: $workspace, sha256: n.tools_hash})
OPTIONAL MATCH (response_format:Blob {workspace: $workspace, sha256: n.response_format_hash})
RETURN c.id AS conversation_id, n.turn_id AS turn_id, n.round AS round, n.status AS status, n.sent AS sent,
       n.options AS options, mine, c.turn_owner AS owner,
       CASE WHEN mine THEN c.turn_from ELSE start.id END AS started_from,
       CASE WHEN parent.turn_id = n.turn_id AND parent.status = 'succeeded' THEN parent.id END AS succeeded_before,
       NOT mine AND EXISTS { (n)<-[:TO]-(:Move {reason: 'turn', accepted: true}) } AS ended,
       CASE WHEN EXISTS { (c)-[:CLEARED]->(:Node) }
                 AND EXISTS { (first)-[:PARENT|COMPACTS*0..]->(:Node)<-[:CLEARED]-(c) } THEN null
            ELSE c.epoch END AS epoch,
       n.system_hash AS system_hash, system.data AS system, n.tools_hash AS tools_hash, tools.data AS tools,
       n.response_format_hash AS response_format_hash, response_format.data AS response_format
