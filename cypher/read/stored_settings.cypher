// The hashes of all settings of a workspace, and whether each was found unused before.
MATCH (b:Blob {workspace: $workspace})
WHERE b.sha256 > '' AND b.setting
RETURN b.sha256 AS sha256, b.unused_since IS NOT NULL AS marked
