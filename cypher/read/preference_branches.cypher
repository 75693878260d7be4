// A page of live conversations in order of id ($after: the last id of the page before, '': from the start), each with
// the places on its history path where another node hangs beside the accepted one.
// path times and created are nanoseconds since 1970. branches: place (0: the root), the accepted node, and its siblings:
// nodes that this conversation owns, and the node where a fork began (B4). Of a sibling also whether it is on the path
// of any live conversation, which of this conversation's moves led into its branch, and when that was last added to.
// rated: ups minus downs of the feedback on a node.
// moves: those that led to a node of the path, by place. newest: when the conversation's tree was last added to.
MATCH (c:Conversation {workspace: $workspace})
WHERE NOT c.deleting AND c.id > $after
WITH c ORDER BY c.workspace, c.id LIMIT $limit
OPTIONAL MATCH (c)-[:CURSOR]->(cursor:Node)
OPTIONAL MATCH (c)-[:FORKED_AT]->(at:Node)
CALL (cursor) {
  OPTIONAL MATCH (cursor)-[:PARENT|COMPACTS*0..]->(n:Node)
  RETURN reverse(collect(n)) AS path
}
CALL (at) {
  OPTIONAL MATCH (at)-[:PARENT|COMPACTS*0..]->(origin:Node)
  WHERE origin.turn_id = at.turn_id
  RETURN collect(origin) AS origins
}
CALL (c, path, origins) {
  UNWIND range(0, size(path) - 1) AS place
  WITH c, origins, place, path[place] AS chosen
  OPTIONAL MATCH (chosen)-[:PARENT|COMPACTS]->(parent:Node)
  WITH c, origins, place, chosen, parent
  WHERE parent IS NULL OR COUNT { (parent)<-[:PARENT|COMPACTS]-() } > 1
  CALL (c, origins, chosen, parent) {
    MATCH (parent)<-[:PARENT|COMPACTS]-(s:Node)
    WHERE s <> chosen AND (s.conversation_id = c.id OR s IN origins)
    RETURN s
    UNION
    MATCH (c)-[:STARTS]->(s:Node)
    WHERE parent IS NULL AND s <> chosen
    RETURN s
    UNION
    UNWIND origins AS s
    WITH s, chosen, parent
    WHERE parent IS NULL AND s.is_root AND s <> chosen
    RETURN s
  }
  CALL (c, s) {
    MATCH (s)<-[:PARENT|COMPACTS*0..]-(below:Node)
    RETURN max(below.created_at.epochSeconds * 1000000000 + below.created_at.nanosecond) AS last
  }
  WITH c, place, chosen, parent, s, last ORDER BY place, s.created_at, s.id
  WITH place, chosen, parent, collect(s {
         .id, .conversation_id, .kind, .status, .finish_reason, .failure_kind, .turn_id, .round, .sent_hash,
         .context_hash, .system_hash, .tools_hash, .response_format_hash, .parameters_hash, .provider, .model, .author,
         .usage, .options, made: toString(s.created_at), deleted: s.deleted_at IS NOT NULL, last: last,
         created: s.created_at.epochSeconds * 1000000000 + s.created_at.nanosecond,
         accepted: EXISTS { MATCH (s)<-[:PARENT|COMPACTS*0..]-(:Node)<-[:CURSOR]-(o:Conversation)
                            WHERE NOT o.deleting },
         moves: COLLECT { MATCH (s)<-[:PARENT|COMPACTS*0..]-(:Node)<-[:TO]-(m:Move {conversation_id: c.id})
                          WHERE m.accepted
                          RETURN m.seq ORDER BY m.seq },
         rated: reduce(sum = 0, rating IN COLLECT { MATCH (s)<-[:ABOUT]-(f:Feedback) RETURN f.rating } |
                       sum + CASE rating WHEN 'up' THEN 1 WHEN 'down' THEN -1 ELSE 0 END)
       }) AS siblings
  ORDER BY place
  RETURN collect({place: place, parent_id: parent.id, siblings: siblings, chosen: chosen {
           .id, .conversation_id, .kind, .status, .finish_reason, .failure_kind, .turn_id, .round, .sent_hash,
           .context_hash, .system_hash, .tools_hash, .response_format_hash, .parameters_hash, .provider, .model,
           .author, .usage, .options, made: toString(chosen.created_at), deleted: chosen.deleted_at IS NOT NULL,
           created: chosen.created_at.epochSeconds * 1000000000 + chosen.created_at.nanosecond,
           rated: reduce(sum = 0, rating IN COLLECT { MATCH (chosen)<-[:ABOUT]-(f:Feedback) RETURN f.rating } |
                       sum + CASE rating WHEN 'up' THEN 1 WHEN 'down' THEN -1 ELSE 0 END)}}) AS branches
}
WITH c, branches, CASE WHEN size(branches) = 0 THEN [] ELSE path END AS path
CALL (c, path) {
  UNWIND range(0, size(path) - 1) AS place
  WITH c, place, path[place] AS n
  MATCH (n)<-[:TO]-(m:Move {conversation_id: c.id})
  WHERE m.accepted
  WITH place, m ORDER BY m.seq
  RETURN collect({place: place, seq: m.seq, at: toString(m.at), reason: m.reason, actor: m.actor}) AS moves
}
CALL (c, path) {
  OPTIONAL MATCH (n:Node {workspace: $workspace, conversation_id: c.id})
  WHERE size(path) > 0 AND n.deleted_at IS NULL
  RETURN max(n.created_at.epochSeconds * 1000000000 + n.created_at.nanosecond) AS newest
}
RETURN c.id AS id, c.source AS source, c.metadata AS metadata, toString(c.updated_at) AS updated_at,
       coalesce(c.version = c.imported_version, false) AS as_imported, head(path).id AS root_id,
       [n IN path | n.created_at.epochSeconds * 1000000000 + n.created_at.nanosecond] AS times,
       [place IN range(0, size(path) - 1) WHERE path[place].kind = 'turn' AND path[place].round = 0 | place] AS turns,
       branches, moves, newest
ORDER BY c.id
