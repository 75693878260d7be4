// How many things of one kind a workspace holds. Written for moves; the table of what a workspace holds makes the others.
MATCH (n:Move {workspace: $workspace})
WHERE n.id > ''
RETURN count(n) AS count
