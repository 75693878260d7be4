// Mark a workspace as being restored from an archive; the mark that is there stays. One row: whether it is new, and whose.
MERGE (r:Restoring {workspace: $workspace})
ON CREATE SET r.operation_id = $operation_id, r.sha256 = $sha256, r.done = 0, r.started_at = datetime.realtime()
RETURN r.operation_id = $operation_id AND r.done = 0 AS fresh, r.sha256 AS sha256, r.done AS done
