// The moves of a conversation's cursor in order, refused ones too; a node that was removed is still named.
MATCH (c:Conversation {workspace: $workspace, id: $conversation_id})-[:MOVED]->(m:Move)
OPTIONAL MATCH (m)-[:FROM]->(old:Node)
OPTIONAL MATCH (m)-[:TO]->(new:Node)
RETURN m.id AS id, m.seq AS seq, m.at AS at, coalesce(old.id, m.from_id) AS from_id,
       coalesce(new.id, m.to_id) AS to_id, m.reason AS reason,
       m.actor AS actor, m.accepted AS accepted
ORDER BY m.seq
