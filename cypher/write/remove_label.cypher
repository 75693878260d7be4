// Take a label off its node; removed: 0 when it isn't there.
OPTIONAL MATCH (l:Label {workspace: $workspace, id: $label_id})-[on:ON]->(:Node)
DELETE on, l
RETURN count(l) AS removed
