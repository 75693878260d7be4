// Hits of a Lucene query among the texts of live nodes and of the blobs they use, best first: of the index's own hits
// $batch after the first $skip, without those up to ($after_place, $after_id); at most $limit. raw: how many of the
// index's there were. accepted_in: up to ten conversations on whose accepted path the node is, its own first.
CALL db.index.fulltext.queryNodes('texts', $wanted, {skip: $skip, limit: $batch}) YIELD node, score
WITH collect([node, score]) AS hits
RETURN size(hits) AS raw,
       COLLECT { UNWIND range(0, size(hits) - 1) AS place
                 WITH place, hits[place][0] AS found, hits[place][1] AS score
                 WHERE found.workspace = $workspace AND place >= $after_place
                 CALL (found) {
                   WITH found WHERE found:Node
                   RETURN found AS n
                   UNION
                   MATCH (found)<-[:USES]-(n:Node)
                   RETURN n
                 }
                 WITH place, score, n
                 WHERE n.deleted_at IS NULL AND n.erased_at IS NULL AND (place > $after_place OR n.id > $after_id)
                 MATCH (c:Conversation {workspace: $workspace, id: n.conversation_id})
                 WHERE NOT c.deleting
                   AND NOT (EXISTS { (c)-[:CLEARED]->(:Node) }
                            AND EXISTS { (n)-[:PARENT|COMPACTS*0..]->(:Node)<-[:CLEARED]-(c) })
                 WITH place, score, n, c ORDER BY place, n.id LIMIT $limit
                 RETURN {place: place, node_id: n.id, conversation_id: c.id, score: score,
                         accepted_in: COLLECT { MATCH (n)<-[:PARENT|COMPACTS*0..]-(:Node)<-[:CURSOR]-(o:Conversation)
                                                WHERE NOT o.deleting
                                                RETURN o.id ORDER BY o.id <> c.id, o.id LIMIT 10 }} AS hit
                 ORDER BY place, n.id } AS found
