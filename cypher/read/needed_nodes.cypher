// Which of a conversation's nodes other conversations stand on, by whom; the oldest conversation first.
MATCH (n:Node {workspace: $workspace, conversation_id: $conversation_id})
CALL (n) {
  MATCH (n)<-[:PARENT|COMPACTS]-(child:Node)
  WHERE child.conversation_id <> n.conversation_id
  RETURN child.conversation_id AS needed_by
  UNION
  MATCH (n)<-[:CURSOR|FORKED_AT]-(other:Conversation)
  WHERE other.id <> n.conversation_id
  RETURN other.id AS needed_by
}
MATCH (heir:Conversation {workspace: $workspace, id: needed_by})
WITH heir, collect(n.id) AS node_ids
RETURN heir.id AS conversation_id, node_ids
ORDER BY heir.created_at, heir.id
