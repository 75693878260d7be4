"""Speed, measured as ratios in one run: PostgreSQL and Neo4j side by side on the same data."""
