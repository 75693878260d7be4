"""Any Neo4j by its address, from arguments or from the environment."""

from __future__ import annotations

import socket
import uuid

import pytest

from graphstore import GraphStore
from graphstore.errors import InvalidInput, ServerUnavailable


@pytest.mark.rule("L2")
def test_a_server_is_named_by_uri_and_credentials(server):
    workspace = f"test-{uuid.uuid4()}"
    with GraphStore.connect(server.uri, auth=(server.username, server.password), workspace=workspace) as store:
        conversation_id = store.create_conversation(title="here")
        assert store.workspace == workspace
        assert store.conversation(conversation_id).title == "here"


@pytest.mark.rule("L2")
def test_a_server_is_named_by_the_environment(server, monkeypatch):
    workspace = f"test-{uuid.uuid4()}"
    for name, value in {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "NEO4J_DATABASE": "neo4j",
        "GRAPHSTORE_WORKSPACE": workspace,
    }.items():
        monkeypatch.setenv(name, value)
    with GraphStore.open() as store:
        assert store.workspace == workspace
        assert store.list_conversations() == ([], None)


def words_of(error):
    """What a user is told; it holds nothing of how the program failed inside."""
    words = str(error.value)
    assert not [word for word in ("Traceback", "Exception", 'File "', "neo4j.exceptions") if word in words], words
    shown = None if error.value.__suppress_context__ else error.value.__context__
    assert (error.value.__cause__, shown) == (None, None), "the driver's own error is not shown under it"
    return words


@pytest.mark.rule("L2")
def test_wrong_credentials_are_refused_by_name(server):
    with pytest.raises(ServerUnavailable, match=r"refuses user 'neo4j'.*NEO4J_PASSWORD") as error:
        GraphStore.connect(server.uri, auth=("neo4j", "wrong-password"))
    assert words_of(error)


@pytest.mark.rule("L2")
def test_a_server_that_is_not_there_is_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        uri = f"bolt://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ServerUnavailable, match="can't be reached") as error:
        GraphStore.connect(uri, auth=("neo4j", "password"))
    assert words_of(error)


@pytest.mark.rule("L2")
def test_an_unknown_database_is_named(server):
    with pytest.raises(ServerUnavailable, match="'nowhere'") as error:
        GraphStore.connect(server.uri, auth=(server.username, server.password), database="nowhere")
    assert words_of(error)


@pytest.mark.rule("L2")
def test_what_is_no_address_is_refused():
    with pytest.raises(InvalidInput, match="bolt://host:7687") as error:
        GraphStore.connect("http://localhost:7474")
    assert words_of(error)
