// Records of requests are swept by their age.
CREATE INDEX requests_by_time IF NOT EXISTS
FOR (r:Request) ON (r.claimed_at)
