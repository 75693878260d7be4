// A migration is recorded once.
CREATE CONSTRAINT schema_version_key IF NOT EXISTS
FOR (v:SchemaVersion) REQUIRE v.version IS UNIQUE
