// A page of live conversations in order of id ($after: the last id of the page before, '': from the start), each with the
// nodes of its history path, root first, without their texts.
// rated: ups minus downs of the feedback on a node. fork_place: the first place where another live node of the conversation
// hangs beside the path's (null: nowhere); from there on, another cursor would have meant another path.
MATCH (c:Conversation {workspace: $workspace})
WHERE NOT c.deleting AND c.id > $after
WITH c ORDER BY c.workspace, c.id LIMIT $limit
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
CALL (cursor) {
  OPTIONAL MATCH (cursor)-[:PARENT|COMPACTS*0..]->(n:Node)
  RETURN reverse(collect(n)) AS path
}
CALL (c, path) {
  UNWIND range(0, size(path) - 1) AS place
  WITH c, place, path[place] AS n
  OPTIONAL MATCH (n)-[:PARENT|COMPACTS]->(parent:Node)
  WITH c, place, n, parent
  WHERE (parent IS NOT NULL AND COUNT { (parent)<-[:PARENT|COMPACTS]-() } > 1 AND EXISTS {
           MATCH (parent)<-[:PARENT|COMPACTS]-(s:Node)
           WHERE s <> n AND s.conversation_id = c.id AND s.deleted_at IS NULL })
     OR (parent IS NULL AND EXISTS { MATCH (c)-[:STARTS]->(s:Node) WHERE s <> n AND s.deleted_at IS NULL })
  RETURN min(place) AS fork_place
}
RETURN c.id AS id, c.source AS source, c.metadata AS metadata, toString(c.updated_at) AS updated_at,
       coalesce(c.version = c.imported_version, false) AS as_imported, fork_place,
       [n IN path | n {
          .id, .conversation_id, .kind, .status, .finish_reason, .failure_kind, .turn_id, .round, .sent_hash,
          .context_hash, .system_hash, .tools_hash, .response_format_hash, .parameters_hash, .provider, .model, .author,
          .usage, .options, made: toString(n.created_at),
          created: n.created_at.epochSeconds * 1000000000 + n.created_at.nanosecond,
          rated: reduce(sum = 0, rating IN COLLECT { MATCH (n)<-[:ABOUT]-(f:Feedback) RETURN f.rating } |
                        sum + CASE rating WHEN 'up' THEN 1 WHEN 'down' THEN -1 ELSE 0 END)
       }] AS steps
ORDER BY c.id
