// A key of the service is looked up by its id alone: it is the key that says which workspace it opens.
CREATE CONSTRAINT api_key IF NOT EXISTS
FOR (k:ApiKey) REQUIRE k.id IS UNIQUE
