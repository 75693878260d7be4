// Blobs by hash.
UNWIND $hashes AS hash
MATCH (b:Blob {workspace: $workspace, sha256: hash})
RETURN b.sha256 AS sha256, b.data AS data
