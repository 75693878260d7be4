// The words of every branch, and of the heavy strings that nodes refer to. The workspace is a field of it, so that a
// search needn't look at others' hits. Written behind, so that appending doesn't wait for it; a search does.
CREATE FULLTEXT INDEX texts IF NOT EXISTS
FOR (x:Node|Blob) ON EACH [x.workspace, x.text, x.data]
OPTIONS {indexConfig: {`fulltext.eventually_consistent`: true}}
