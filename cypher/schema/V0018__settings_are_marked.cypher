// Blobs were settings only so far; those that heavy strings use are told apart by this mark.
MATCH (b:Blob)
SET b.setting = true
