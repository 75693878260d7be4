// Record a migration as applied; the first record of a version stays.
MERGE (v:SchemaVersion {version: $version})
ON CREATE SET v.name = $name, v.checksum = $checksum, v.applied_at = datetime.realtime()
RETURN v.checksum AS checksum
