"""What may go after a time (rule Z3)."""

from __future__ import annotations

import pytest
from rich_workspace import ask

from graphstore import GraphStore, errors
from graphstore.cli import run
from graphstore.local import Endpoint
from graphstore.models import RetentionRules
from graphstore.queries import parse

pytestmark = pytest.mark.rule("Z3")


def aged(store: GraphStore, conversation_id: str, days: int = 100) -> None:
    query = parse(
        "write/of_a_test",
        "// of a test\nMATCH (c:Conversation {workspace: $workspace, id: $id}) "
        "SET c.updated_at = datetime.realtime() - duration({days: $days})",
    )
    store.session.database.rows(query, workspace=store.workspace, id=conversation_id, days=days)


def test_only_what_the_rules_let_go_goes_and_the_dry_run_says_so_first(store: GraphStore) -> None:
    made = {}
    for name, metadata in (
        ("old", {"tag": "x"}),
        ("kept", {"tags": ["x", "legal"]}),
        ("other", {}),
        ("labelled", {"tag": "x"}),
    ):
        made[name] = store.create_conversation(id=name, metadata=metadata)
        node = ask(store, name, "Q", "A")
        if name == "labelled":
            store.labels.add(node, "best")
        aged(store, name)
    store.create_conversation(id="new", metadata={"tag": "x"})
    store.create_conversation(id="busy", metadata={"tag": "x"})
    running = store.turn("busy")
    running.call("Q")
    aged(store, "busy")
    rules = RetentionRules(older_than_days=30, tags=("x",), keep_tags=("legal",), keep_labels=("best",))
    planned = {step.conversation_id: step for step in store.retention.plan(rules)}
    assert [id for id, step in planned.items() if step.goes] == ["old"]
    assert "legal" in planned["kept"].why
    assert "best" in planned["labelled"].why
    assert "running" in planned["busy"].why
    assert len(list(store.conversations())) == 6, "a dry run changes nothing"
    taken = {step.conversation_id: step for step in store.retention.apply(rules)}
    assert {id: (step.goes, step.nodes) for id, step in taken.items()} == {
        id: (step.goes, step.nodes) for id, step in planned.items()
    }
    assert taken["old"].receipt is not None
    assert taken["old"].receipt.nodes == planned["old"].nodes == 1
    assert {one.id for one in store.conversations()} == {"kept", "other", "labelled", "new", "busy"}


def test_what_a_fork_stands_on_is_handed_to_it(store: GraphStore) -> None:
    talk = store.create_conversation()
    fork = store.fork(ask(store, talk, "Q", "A"))
    aged(store, talk)
    (taken,) = [step for step in store.retention.apply(RetentionRules(older_than_days=30)) if step.goes]
    assert taken.receipt is not None
    assert [kept.conversation_id for kept in taken.receipt.kept] == [fork]
    assert [item["content"] for item in store.context(fork).items] == ["Q", "A"]


def test_only_abandoned_branches_go_and_never_the_accepted_path_nor_what_a_fork_stands_on(store: GraphStore) -> None:
    talk = store.create_conversation()
    first = ask(store, talk, "Q1", "A1")
    left = ask(store, talk, "Q2", "A2")
    below = ask(store, talk, "Q3", "A3")
    with store.edit(talk, left, "Q2b") as turn:
        turn.current.succeed("A2b")
    forked = turn.current.id
    store.fork(forked)
    with store.edit(talk, left, "Q2c") as turn:
        turn.current.succeed("A2c")
    with store.conversion(talk) as job:
        job.call("side job").succeed("draft")
    aged(store, talk)
    rules = RetentionRules(older_than_days=30, abandoned_only=True)
    planned = [step for step in store.retention.plan(rules) if step.conversation_id == talk]
    assert {(step.node_id, step.goes, step.nodes) for step in planned} == {(left, True, 2), (forked, False, 1)}
    taken = [step for step in store.retention.apply(rules) if step.goes]
    assert [(step.node_id, step.receipt and step.receipt.nodes) for step in taken] == [(left, 2)]
    there = {node.id for node in store.tree(talk)}
    assert there >= {first, forked, turn.current.id}
    assert not there & {left, below}
    assert store.verify().ok


def test_a_branch_kept_after_a_lost_race_stays_until_somebody_has_looked(store: GraphStore) -> None:
    talk = store.create_conversation()
    ask(store, talk, "Q1", "A1")
    losing = store.turn(talk, exclusive=False)
    lost = losing.call("other tab")
    ask(store, talk, "this tab", "A2")
    with pytest.raises(errors.CursorMoved):
        lost.succeed("lost", end_turn=True)
    aged(store, talk)
    rules = RetentionRules(older_than_days=30, abandoned_only=True)
    assert [(step.node_id, step.goes) for step in store.retention.plan(rules)] == [(lost.id, False)]
    store.dismiss(talk, lost.id)
    aged(store, talk)
    assert [(step.node_id, step.goes) for step in store.retention.apply(rules)] == [(lost.id, True)]


@pytest.mark.rule("L3")
def test_the_command_plans_and_applies(
    store: GraphStore, server: Endpoint, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("URI", server.uri), ("USERNAME", server.username), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"NEO4J_{name}", value)
    talk = store.create_conversation()
    ask(store, talk, "Q", "A")
    aged(store, talk)
    options = ["--older-than", "30", "--workspace", store.workspace]
    assert run(["retention", "plan", *options]) == 0
    assert talk in capfd.readouterr().out
    assert run(["retention", "apply", *options]) == 2
    assert store.conversation(talk).id == talk
    assert run(["retention", "apply", *options, "--yes", "--json"]) == 0
    assert list(store.conversations()) == []


def test_a_conversation_that_is_used_between_the_look_and_the_deletion_stays(store: GraphStore) -> None:
    """The page is read before its first step is taken: what changes in between is seen under the lock."""
    for name in ("a", "b"):
        store.create_conversation(id=name)
        ask(store, name, "Q", "A")
        aged(store, name)
    steps = store.retention.apply(RetentionRules(older_than_days=30))
    assert next(steps).goes
    ask(store, "b", "Still here?", "Yes")
    (last,) = steps
    assert (last.conversation_id, last.goes, last.nodes) == ("b", False, 0)
    assert "changed meanwhile" in last.why
    assert len(store.path("b")) == 2
