"""What ``graphstore doctor`` finds unfinished, and what it may finish."""

from __future__ import annotations

import pytest

from graphstore import GraphStore
from graphstore.queries import parse


def damage(store: GraphStore, text: str, **given: object) -> None:
    query = parse("write/of_a_test", f"// of a test\n{text}")
    store.session.database.rows(query, workspace=store.workspace, **given)


def asked(store: GraphStore, conversation_id: str) -> str:
    with store.turn(conversation_id) as turn:
        call = turn.call("Q")
        call.succeed("A")
    return call.id


MARK = "MATCH (c:Conversation {workspace: $workspace, id: $id}) SET c.deleting = true"


@pytest.mark.rule("X4")
def test_interrupted_deletions_and_clears_are_found_and_finished(cli, store: GraphStore) -> None:
    gone, cleared = store.create_conversation(), store.create_conversation()
    asked(store, gone)
    old = asked(store, cleared)
    damage(store, MARK, id=gone)
    damage(
        store,
        "MATCH (c:Conversation {workspace: $workspace, id: $id})-[s:STARTS]->(n) CREATE (c)-[:CLEARED]->(n) DELETE s "
        "WITH c MATCH (c)-[at:CURSOR]->() DELETE at",
        id=cleared,
    )
    kept = asked(store, cleared)
    assert cli("doctor").code == 1
    fixed = cli("doctor", "--fix")
    assert (fixed.code, "2 finished" in fixed.out) == (0, True), fixed.out
    assert [one.id for one in store.conversations()] == [cleared]
    assert [node.id for node in store.tree(cleared)] == [kept]
    assert old != kept


@pytest.mark.rule("X2", "X4")
def test_a_deletion_that_others_need_to_be_told_about_is_left_to_whoever_began_it(cli, store: GraphStore) -> None:
    talk = store.create_conversation()
    node = asked(store, talk)
    fork = store.fork(node)
    damage(store, MARK, id=talk)
    ended = cli("doctor", "--fix")
    assert ended.code == 1
    assert "--on-shared" in ended.out
    assert store.node(node).conversation_id == talk
    assert store.conversation(fork).cursor == node


@pytest.mark.rule("I7")
def test_nothing_is_finished_in_a_workspace_that_is_being_restored(cli, store: GraphStore) -> None:
    talk = store.create_conversation()
    damage(store, MARK, id=talk)
    damage(store, "CREATE (:Restoring {workspace: $workspace, sha256: 'x', done: 0, started_at: datetime()})")
    ended = cli("doctor", "--fix")
    assert ended.code == 1
    assert "archive import" in ended.out
    damage(store, "MATCH (c:Conversation {workspace: $workspace}) SET c.deleting = false")
    assert store.conversation(talk).id == talk


@pytest.mark.rule("L5")
def test_nodes_of_no_conversation_are_found(cli, store: GraphStore) -> None:
    asked(store, store.create_conversation())
    damage(store, "MATCH (n:Node {workspace: $workspace}) SET n.conversation_id = 'nowhere'")
    ended = cli("doctor")
    assert ended.code == 1
    assert "nowhere" in ended.out
