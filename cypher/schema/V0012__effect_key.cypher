// An effect is named once per workspace.
CREATE CONSTRAINT effect_key IF NOT EXISTS
FOR (e:Effect) REQUIRE (e.workspace, e.id) IS UNIQUE
