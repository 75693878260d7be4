// The context path of a conversation's cursor as read/assemble has it, but the climb also ends at the first node whose
// context the caller holds ($known). Beside it what tells whether a held context still stands: of $owners the number of
// removals in each conversation, of $unsettled the nodes that have been completed since.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WITH c, c.epoch AS epoch
OPTIONAL MATCH (c)-[:CURSOR]->(leaf:Node)
OPTIONAL MATCH (leaf)-[hops:PARENT|COMPACTS*0..]->(n)
WHERE all(hop IN hops WHERE (hop.readers IS NULL OR none(reader IN $readers WHERE reader IN hop.readers))
                            AND NOT startNode(hop).id IN $known)
WITH c, epoch, leaf, collect(n) AS nodes
OPTIONAL MATCH (system:Blob {workspace: $workspace, sha256: leaf.system_hash})
OPTIONAL MATCH (tools:Blob {workspace: $workspace, sha256: leaf.tools_hash})
RETURN c.id AS conversation_id, leaf.id AS cursor, c.version AS version, epoch, c.deleting AS deleting,
       [n IN nodes | n.id] AS ids, [n IN nodes | n.sent] AS sent, [n IN nodes | n.returned] AS returned,
       [n IN nodes | n.call_ids] AS call_ids, [n IN nodes | n.result_ids] AS result_ids,
       [n IN nodes WHERE n:Compaction | [n.id, n.readers]] AS compactions,
       [n IN nodes WHERE n:ExactText | n.id] AS exact,
       COLLECT { UNWIND [n IN nodes WHERE n:Heavy | n] AS heavy
                 OPTIONAL MATCH (heavy)-[:USES]->(b:Blob)
                 WITH DISTINCT b
                 RETURN [b.sha256, b.data] } AS blobs,
       last(nodes).is_root AS top_is_root,
       leaf.system_hash AS system_hash, system.data AS system, leaf.tools_hash AS tools_hash, tools.data AS tools,
       COLLECT { UNWIND $owners + [c.id] + CASE WHEN leaf.conversation_id = last(nodes).conversation_id
                                               THEN [leaf.conversation_id]
                                               ELSE [n IN nodes | n.conversation_id] END AS id
                 WITH DISTINCT id AS owner
                 MATCH (o:Conversation {workspace: $workspace, id: owner})
                 WHERE NOT o.deleting
                 RETURN [o.id, o.removals] } AS removals,
       COLLECT { UNWIND $unsettled AS pending
                 MATCH (u:Node {workspace: $workspace, id: pending})
                 WHERE u.returned IS NOT NULL
                 RETURN u.id } AS settled
