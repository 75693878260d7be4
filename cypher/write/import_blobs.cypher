// Store heavy strings by hash, each once, and lock them, so that none is collected before the nodes that use it are there.
UNWIND $blobs AS blob
MERGE (b:Blob {workspace: $workspace, sha256: blob.sha256})
ON CREATE SET b.data = blob.data, b.size = blob.size, b.media_type = blob.media_type
SET b.locked = true REMOVE b.locked
