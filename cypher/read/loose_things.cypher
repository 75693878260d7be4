// Things of one kind that don't hang on exactly one other. Written for bubbles; the table of what a workspace holds makes
// the same query for other kinds.
MATCH (n:Bubble {workspace: $workspace})
WHERE n.id > ''
  AND COUNT { (n)-[:OF]->() } <> 1
RETURN n.id AS key, COUNT { (n)-[:OF]->() } AS count
ORDER BY key LIMIT 1000
