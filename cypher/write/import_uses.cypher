// Link nodes with the blobs that their text refers to; both are there and locked.
UNWIND $uses AS use
MATCH (n:Node {workspace: $workspace, id: use.node_id})
MATCH (b:Blob {workspace: $workspace, sha256: use.sha256})
SET n:Heavy
CREATE (n)-[:USES]->(b)
