// Of the nodes named, those whose open tool calls are explained, and by what: stopped by the user, an overflow of the
// round that sent their results, or a process that died after them.
MATCH (n:Node {workspace: $workspace})
WHERE n.id IN $node_ids
WITH n, CASE
    WHEN n.finish_reason = 'cancelled' THEN 'the call was stopped by the user'
    WHEN EXISTS { (n)<-[:PARENT]-(next:Node)
                  WHERE next.turn_id = n.turn_id AND next.failure_kind = 'context_overflow' }
      THEN 'the round that sent its result was too long for the model'
    WHEN EXISTS { (n)<-[:TO]-(:Move {reason: 'failure'}) }
      THEN 'the process that ran the turn was lost before the next round'
  END AS explanation
WHERE explanation IS NOT NULL
RETURN n.id AS node_id, explanation
