// Nodes by id with all that is checked of them: properties and flags, what they hang on (with the keys on the
// relationship), who starts there, which blobs they use, and which of their settings are not stored.
UNWIND $ids AS id
MATCH (n:Node {workspace: $workspace, id: id})
RETURN n.id AS id, labels(n) AS labels, properties(n) AS properties,
       COLLECT { MATCH (n)-[r:PARENT]->(p) RETURN {id: p.id, workspace: p.workspace, key: [r.workspace, r.child_id],
                 turn_id: p.turn_id, round: p.round, kind: p.kind, hidden: p.deleted_at IS NOT NULL,
                 tombstone: p.tombstone} } AS parents,
       COLLECT { MATCH (n)-[r:COMPACTS]->(o) RETURN {id: o.id, workspace: o.workspace,
                 key: [r.workspace, r.compaction_id], readers: r.readers, hidden: o.deleted_at IS NOT NULL,
                 tombstone: o.tombstone} } AS originals,
       COLLECT { MATCH (n)<-[:STARTS|CLEARED]-(c:Conversation) RETURN c.id } AS starts,
       COLLECT { MATCH (n)-[:USES]->(b:Blob) RETURN b.sha256 } AS uses,
       COLLECT { UNWIND [n.system_hash, n.tools_hash, n.response_format_hash, n.parameters_hash] AS hash
                 WITH hash WHERE hash IS NOT NULL
                   AND NOT EXISTS { MATCH (:Blob {workspace: $workspace, sha256: hash}) }
                 RETURN hash } AS unstored
