// A page of one kind of thing, in order of its key from $after on: labels, properties, and the relationships that an
// archive tells with it ([direction, type, properties, times, the other end's labels and key]). Written for moves; the
// table of what a workspace holds makes the same query for every other kind.
// times: the exact text of every time ([property, text]), since a driver can't tell an offset from a zone's name.
MATCH (n:Move {workspace: $workspace})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
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
