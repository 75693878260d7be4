// The context path of a conversation's cursor or of a named node, newest first, one list per column.
// The climb ends at a root or at the first compaction that one of $readers can read; nothing above is read.
// A compaction in the lists that is not their last was unfolded. removals: how often data was removed from each
// conversation that owns part of the path, which tells later whether a held context still stands. Owners change at
// forks and never change back further up, so when the two ends have one owner all have; reading them all costs a tenth.
// The epoch is read before the cursor, so that a clear in between makes it the older one, which no write accepts.
OPTIONAL MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})
WITH c, c.epoch AS epoch
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (named:Node {workspace: $workspace, id: $node_id})
WITH c, epoch, cursor, CASE WHEN $node_id IS NULL THEN cursor ELSE named END AS leaf
OPTIONAL MATCH (leaf)-[hops:PARENT|COMPACTS*0..]->(n)
WHERE all(hop IN hops WHERE hop.readers IS NULL OR none(reader IN $readers WHERE reader IN hop.readers))
WITH c, epoch, cursor, leaf, collect(n) AS nodes
OPTIONAL MATCH (system:Blob {workspace: $workspace, sha256: leaf.system_hash})
OPTIONAL MATCH (tools:Blob {workspace: $workspace, sha256: leaf.tools_hash})
RETURN c.id AS conversation_id, cursor.id AS cursor, c.version AS version, epoch, c.deleting AS deleting,
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
       COLLECT { UNWIND [c.id] + CASE WHEN leaf.conversation_id = last(nodes).conversation_id
                                     THEN [leaf.conversation_id]
                                     ELSE [n IN nodes | n.conversation_id] END AS id
                 WITH DISTINCT id AS owner
                 MATCH (o:Conversation {workspace: $workspace, id: owner})
                 WHERE NOT o.deleting
                 RETURN [o.id, o.removals] } AS removals
