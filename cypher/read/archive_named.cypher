// Things of one kind by their keys, as archive_page gives them. Written for moves, like that one.
UNWIND $keys AS named
MATCH (n:Move {workspace: $workspace, id: named})
RETURN n.id AS key, labels(n) AS labels, properties(n) AS properties,
       [k IN keys(n) WHERE n[k] IS :: ZONED DATETIME | [k, toString(n[k])]] AS times,
       COLLECT { MATCH (n)-[r:FROM|TO]->(other)
                 RETURN ['out', type(r), properties(r),
                         [k IN keys(r) WHERE r[k] IS :: ZONED DATETIME | [k, toString(r[k])]],
                         labels(other), coalesce(other.id, other.sha256)] }
       + COLLECT { MATCH (n)<-[r:MOVED]-(other)
                   RETURN ['in', type(r), properties(r),
                           [k IN keys(r) WHERE r[k] IS :: ZONED DATETIME | [k, toString(r[k])]],
                           labels(other), coalesce(other.id, other.sha256)] } AS links
ORDER BY key
