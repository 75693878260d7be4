// Wait until the index of texts has what was committed before.
CALL db.awaitIndex('texts', 60)
CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()
