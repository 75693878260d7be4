// Put things of one kind back as an archive tells them. Written for moves; the table of what a workspace holds makes the
// same query for every other kind. flags: the labels beside the kind's own.
UNWIND $rows AS row
CREATE (n:Move)
SET n = row.properties, n.workspace = $workspace
SET n:$(row.flags)
RETURN count(n) AS put
