// The mark of a restore that has not finished: of which archive (its SHA-256), how far, and since when. No row: none.
MATCH (r:Restoring {workspace: $workspace})
RETURN r.sha256 AS sha256, r.done AS done, r.started_at AS started_at
