// Remove those of $hashes that were found unused at least $seconds ago. Whoever stores a setting takes the mark away, so
// it is looked at again under the lock. One that is a heavy string, too, stays as that.
UNWIND $hashes AS hash
WITH hash ORDER BY hash
MATCH (b:Blob {workspace: $workspace, sha256: hash})
SET b.locked = true REMOVE b.locked
WITH b WHERE b.setting AND b.unused_since <= datetime.realtime() - duration({seconds: $seconds})
WITH collect(b) AS swept
CALL (swept) {
  UNWIND swept AS b
  WITH b WHERE EXISTS { (b)<-[:USES]-() }
  SET b.setting = null, b.unused_since = null
}
CALL (swept) {
  UNWIND swept AS b
  WITH b WHERE b.setting AND NOT EXISTS { (b)<-[:USES]-() }
  DELETE b
}
RETURN size(swept) AS removed
