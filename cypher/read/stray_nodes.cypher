// A page of a workspace's nodes in order of id, of which those are given whose conversation isn't there. last: null at
// the end.
MATCH (n:Node {workspace: $workspace})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
WITH collect(n) AS page
RETURN last(page).id AS last, size(page) AS count,
       COLLECT { UNWIND page AS n
                 WITH n
                 WHERE NOT EXISTS { MATCH (:Conversation {workspace: $workspace, id: n.conversation_id}) }
                 RETURN [n.id, n.conversation_id] } AS strays
