// The nodes that a conversation owns, for listings, trees and deletion.
CREATE INDEX nodes_of_a_conversation IF NOT EXISTS
FOR (n:Node) ON (n.workspace, n.conversation_id)
