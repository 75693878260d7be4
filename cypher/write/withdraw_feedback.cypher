// Take feedback back; withdrawn: 0 when it isn't there.
OPTIONAL MATCH (f:Feedback {workspace: $workspace, id: $feedback_id})-[about:ABOUT]->(:Node)
DELETE about, f
RETURN count(f) AS withdrawn
