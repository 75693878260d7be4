// The first node of a node's turn ($node_id null: of the cursor's), what it sent, and its parent.
// behind: the compactions on the cursor's history path between the cursor and that first node, newest first.
// expired_turn_id: a turn whose lease ran out and that is still to be settled, which will move the cursor.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WHERE NOT c.deleting
WITH c, c.epoch AS epoch, EXISTS { (c)-[:CLEARED]->(:Node) } AS clearing
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (c)-[:FORKED_AT]->(at:Node)
OPTIONAL MATCH (named:Node {workspace: $workspace, id: $node_id})
WITH c, epoch, clearing, cursor, at, CASE WHEN $node_id IS NULL THEN cursor ELSE named END AS n
OPTIONAL MATCH (n)-[:PARENT|COMPACTS*0..]->(first:Node)
WHERE first.turn_id = n.turn_id AND first.round = 0 AND first.kind <> 'compaction'
WITH c, epoch, clearing, cursor, at, n, first LIMIT 1
OPTIONAL MATCH (first)-[:PARENT]->(parent:Node)
OPTIONAL MATCH (system:Blob {workspace: $workspace, sha256: first.system_hash})
OPTIONAL MATCH (tools:Blob {workspace: $workspace, sha256: first.tools_hash})
OPTIONAL MATCH (response_format:Blob {workspace: $workspace, sha256: first.response_format_hash})
RETURN CASE WHEN c.turn_expires_at <= datetime.realtime() THEN c.turn_id END AS expired_turn_id,
       epoch, cursor.id AS cursor, n.id AS node_id, first.id AS first_id, first.kind AS kind,
       CASE WHEN clearing AND EXISTS { (first)-[:PARENT|COMPACTS*0..]->(:Node)<-[:CLEARED]-(c) } THEN false
            WHEN first.conversation_id = c.id THEN true
            ELSE EXISTS { (cursor)-[:PARENT|COMPACTS*0..]->(first) }
                 OR EXISTS { (at)-[:PARENT|COMPACTS*0..]->(first) } END AS reachable,
       CASE WHEN n:Compaction THEN head([(n)-[:COMPACTS]->(original:Node) | original.id]) END AS compacts_id,
       n:Compaction AS is_compaction,
       first.sent AS sent, first:ExactText AS exact, parent.id AS parent_id, first.deleted_at AS deleted_at,
       first.provider AS provider, first.model AS model, first.system_hash AS system_hash,
       system.data AS system, first.tools_hash AS tools_hash, tools.data AS tools,
       first.response_format_hash AS response_format_hash, response_format.data AS response_format,
       first.parameters_hash AS parameters_hash, first.context_hash AS context_hash, first.options AS options,
       CASE WHEN NOT c.compacted THEN [] ELSE
         COLLECT { MATCH (cursor)-[hops:PARENT|COMPACTS*1..]->(first)
                   UNWIND [hop IN hops WHERE hop.readers IS NOT NULL] AS folded
                   RETURN startNode(folded).id } END AS behind
