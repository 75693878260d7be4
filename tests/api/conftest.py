"""What the service's rooms share: a client of the application on the test's own workspace."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from told import Story

from graphstore import GraphStore
from graphstore.api import create_app


@pytest.fixture
def client(store: GraphStore) -> TestClient:
    return TestClient(create_app(store))


@pytest.fixture
def story(store: GraphStore) -> Story:
    conversation_id = store.create_conversation(id="revenue", title="Revenue")
    with store.turn(conversation_id) as turn:
        first = turn.call("What was our revenue?", provider="openai", model="gpt-5", system="Be short.")
        first.succeed("4.2 million.")
    with store.regenerate(conversation_id, provider="openai", model="gpt-5") as turn:
        turn.current.succeed("About 4 million.")
    return Story(conversation_id, first.id, turn.current.id)
