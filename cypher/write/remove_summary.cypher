// Take a summary off its branch; removed: 0 when there is none.
OPTIONAL MATCH (s:Summary {workspace: $workspace, id: $summary_id})-[of:SUMMARIZES]->(:Node)
DELETE of, s
RETURN count(s) AS removed
