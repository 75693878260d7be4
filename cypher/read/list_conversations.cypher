// A page of a workspace's conversations, newest first, with the size of the tree that each owns. A fork has, beside its
// own branches, the one that ends where it began, until a node of its own follows there. Side jobs are no branches.
// The page begins after ($after_at, $after_id); null: from the newest.
MATCH (c:Conversation {workspace: $workspace})
WHERE c.created_at IS NOT NULL AND NOT c.deleting
  AND ($after_at IS NULL OR c.created_at < $after_at OR (c.created_at = $after_at AND c.id < $after_id))
WITH c ORDER BY c.created_at DESC, c.id DESC LIMIT $limit
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (c)-[:FORKED_AT]->(at:Node)
RETURN c.id AS id, c.title AS title, c.source AS source, c.source_id AS source_id, cursor.id AS cursor,
       c.forked_from AS forked_from, c.created_at AS created_at, c.updated_at AS updated_at,
       COUNT { MATCH (n:Node {workspace: $workspace, conversation_id: c.id}) WHERE n.deleted_at IS NULL } AS nodes,
       COUNT { MATCH (n:Node {workspace: $workspace, conversation_id: c.id})
               WHERE n.deleted_at IS NULL AND n.kind <> 'conversion'
                 AND NOT EXISTS { (n)<-[:PARENT|COMPACTS]-(child:Node)
                                  WHERE child.conversation_id = c.id AND child.deleted_at IS NULL
                                    AND child.kind <> 'conversion' } }
         + CASE WHEN at.deleted_at IS NULL AND at.conversation_id <> c.id
                     AND NOT EXISTS { (at)<-[:PARENT|COMPACTS]-(child:Node)
                                      WHERE child.conversation_id = c.id AND child.deleted_at IS NULL
                                        AND child.kind <> 'conversion' }
                THEN 1 ELSE 0 END AS branches
ORDER BY c.created_at DESC, c.id DESC
