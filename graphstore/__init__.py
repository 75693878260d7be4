"""A conversation store for LLM applications whose conversations are trees, on Neo4j."""
