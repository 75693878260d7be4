// Note since when settings are unused ($unused), and of those in use ($used) that they are.
UNWIND $unused + $used AS hash
WITH hash ORDER BY hash
MATCH (b:Blob {workspace: $workspace, sha256: hash})
SET b.unused_since = CASE WHEN hash IN $used THEN null ELSE coalesce(b.unused_since, datetime.realtime()) END
RETURN count(b) AS noted
