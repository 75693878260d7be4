// Feedback's id is unique within its workspace.
CREATE CONSTRAINT feedback_key IF NOT EXISTS
FOR (f:Feedback) REQUIRE (f.workspace, f.id) IS UNIQUE
