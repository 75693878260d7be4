"""What the store's rooms share: raw Cypher for what no public verb does, and a count of the queries that run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from graphstore import GraphStore
from graphstore.database import Row
from graphstore.queries import Query, parse


@pytest.fixture
def cypher(store: GraphStore) -> Callable[..., list[Row]]:
    """Run Cypher in the store's workspace (``$workspace``), to damage data or to look below the public verbs."""

    def run(text: str, **parameters: Any) -> list[Row]:
        query = parse("write/of_a_test", f"// of a test\n{text}")
        return store.session.database.rows(query, workspace=store.workspace, **parameters)

    return run


@pytest.fixture
def queries_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[GraphStore], Any]:
    """``with queries_of(store) as names:`` lists the names of the queries that run meanwhile."""

    @contextmanager
    def counting(store: GraphStore) -> Iterator[list[str]]:
        database, names = store.session.database, []
        run, stream = database.rows, database.stream

        def noted(query: Query, **parameters: Any) -> list[Row]:
            names.append(query.name)
            return run(query, **parameters)

        def streamed(query: Query, **parameters: Any) -> Iterator[Row]:
            names.append(query.name)
            return stream(query, **parameters)

        with monkeypatch.context() as patch:
            patch.setattr(database, "rows", noted)
            patch.setattr(database, "stream", streamed)
            yield names

    return counting
