// Take the mark of a restore away.
MATCH (r:Restoring {workspace: $workspace})
DELETE r
