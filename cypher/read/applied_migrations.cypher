// The migrations applied to this database: version, name and checksum, in order.
MATCH (v:SchemaVersion)
RETURN v.version AS version, v.name AS name, v.checksum AS checksum ORDER BY v.version
