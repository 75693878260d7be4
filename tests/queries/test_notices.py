"""What the server has to say about a query reaches Python."""

from __future__ import annotations

import pytest

from graphstore import GraphStore
from graphstore.errors import QueryNotice
from graphstore.queries import parse


def test_a_notice_of_the_server_becomes_a_warning_that_names_the_query(store: GraphStore) -> None:
    noticed = parse("read/noticed", "// Two patterns that nothing joins.\nMATCH (a:Blob), (b:Move) RETURN 1 LIMIT 0")
    deprecated = parse("read/old", "// Deprecated.\nMATCH (a:Blob) RETURN id(a) LIMIT 0")
    with pytest.warns(QueryNotice, match="read/old"):
        store.session.database.rows(deprecated)
    store.session.database.rows(noticed)  # no more than information: no warning


def test_in_tests_a_notice_is_an_error(store: GraphStore) -> None:
    with pytest.raises(QueryNotice):
        store.session.database.rows(parse("read/old", "// Deprecated.\nMATCH (a:Blob) RETURN id(a) LIMIT 0"))
