// A page of a workspace's nodes in order of id: the hashes of the settings that they have. last: null at the end.
MATCH (n:Node {workspace: $workspace})
WHERE n.id > $after
WITH n ORDER BY n.id LIMIT $limit
WITH collect(n.id) AS ids, collect(DISTINCT n.system_hash) + collect(DISTINCT n.tools_hash)
     + collect(DISTINCT n.response_format_hash) + collect(DISTINCT n.parameters_hash) AS hashes
RETURN last(ids) AS last, hashes
