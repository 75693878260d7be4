// A node carries a label once.
CREATE CONSTRAINT label_key IF NOT EXISTS
FOR (l:Label) REQUIRE (l.workspace, l.id) IS UNIQUE
