// Keys that more than one thing of a kind has. Written for moves; the table of what a workspace holds makes the others.
MATCH (n:Move {workspace: $workspace})
WHERE n.id > ''
WITH n.id AS key, count(*) AS count
WHERE count > 1
RETURN key, count
ORDER BY key LIMIT 1000
