// Of the branches that end at $ends: their own nodes, up to where they meet one of $accepted (leaves_at; null: they
// don't), and what was said of them.
UNWIND $ends AS id
MATCH (end:Node {workspace: $workspace, id: id})
CALL (end) {
  MATCH (end)-[hops:PARENT|COMPACTS*0..]->(n:Node)
  WHERE all(hop IN hops WHERE NOT startNode(hop).id IN $accepted)
  RETURN collect(n) AS climbed
}
WITH end, climbed, last(climbed).id IN $accepted AS meets
WITH end, CASE WHEN meets THEN climbed[..-1] ELSE climbed END AS own, CASE WHEN meets THEN last(climbed).id END AS leaves_at
RETURN end.id AS node_id, last(own).id AS first_id, leaves_at, size(own) AS nodes, end.status AS status,
       coalesce(end.finished_at, end.created_at) AS newest_at,
       COLLECT { UNWIND own AS n
                 MATCH (n)<-[:ON]-(l:Label)
                 WHERE l.branch OR n = end
                 WITH DISTINCT l.name AS name
                 RETURN name ORDER BY name } AS labels,
       head(COLLECT { UNWIND range(0, size(own) - 1) AS place
                      WITH own[place] AS n, place
                      MATCH (n)<-[:SUMMARIZES]-(s:Summary)
                      RETURN s.text ORDER BY place LIMIT 1 }) AS summary
