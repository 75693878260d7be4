// Put relationships of one type back between two kinds of things. Written for where a move led from; the table of what a
// workspace holds makes the same query for the others. put: how many found both their ends.
UNWIND $rows AS row
MATCH (n:Move {workspace: $workspace, id: row.key})
MATCH (other:Node {workspace: $workspace, id: row.other})
CREATE (n)-[r:FROM]->(other)
SET r = row.properties
RETURN count(r) AS put
