"""Every fingerprint made again and every pointer followed (rule L5): what was damaged is found, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rich_workspace import Rich, ask, fill

from graphstore import GraphStore, errors
from graphstore.queries import parse
from graphstore.store import verification

pytestmark = pytest.mark.rule("L5")

NODE = "MATCH (n:Node {workspace: $workspace, id: $%s}) "
TALK = "MATCH (c:Conversation {workspace: $workspace, id: $talk}) "


def damage(store: GraphStore, names: Rich, text: str) -> None:
    query = parse("write/of_a_test", f"// of a test\n{text}")
    given = {name: value for name, value in vars(names).items() if name in query.parameters}
    store.session.database.rows(query, workspace=store.workspace, **given)


def found(store: GraphStore) -> list[tuple[str, str]]:
    return [(one.what, one.id) for one in store.verify().listed]


@pytest.fixture
def rich(store: GraphStore) -> Rich:
    return fill(store)


def test_a_workspace_with_everything_in_it_has_nothing_that_disagrees(store: GraphStore, rich: Rich) -> None:
    seen: list[tuple[int, int]] = []
    report = store.verify(progress=lambda done, total: seen.append((done, total)))
    assert (report.ok, report.found, report.listed) == (True, 0, ())
    assert report.erased == 2, "what was erased, and the call that stands on it"
    assert report.checked["Node"] > 30
    assert set(report.checked) >= {"Conversation", "Node", "Move", "Blob", "Bubble", "Effect", "Fact", "ToolResult"}
    assert seen[-1][0] == seen[-1][1]


def test_pages_of_any_size_find_the_same(store: GraphStore, rich: Rich, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(store, rich, NODE % "first" + "SET n.sent_hash = 'x'")
    for name, size in (("CONVERSATIONS", 1), ("NODES", 2), ("PAGE", 3)):
        monkeypatch.setattr(verification, name, size)
    assert found(store) == [("sent_hash", rich.first)]


@pytest.mark.parametrize(
    ("how", "what", "whose"),
    [
        (NODE % "first" + "SET n.sent_hash = 'x'", ["sent_hash"], "first"),
        (NODE % "first" + "SET n.result_hash = 'x'", ["result_hash"], "first"),
        (NODE % "first" + "SET n.result_hash = null", ["result_hash"], "first"),
        (NODE % "first" + "SET n.usage = '{}'", ["result_hash"], "first"),
        (NODE % "first" + "SET n.context_hash = 'x'", ["context_hash"], "first"),
        (NODE % "abandoned" + "SET n.context_hash = 'x'", ["context_hash"], "abandoned"),
        (NODE % "conversion" + "SET n.context_hash = 'x'", ["context_hash"], "conversion"),
        (NODE % "pending" + "SET n.status = 'succeeded'", ["status", "result_hash"], "pending"),
        (NODE % "pending" + "SET n.sent = 'no JSON'", ["text", "path"], "pending"),
        (NODE % "abandoned" + "SET n.call_ids = ['x']", ["call_ids"], "abandoned"),
        (NODE % "abandoned" + "SET n.result_ids = ['x']", ["result_ids"], "abandoned"),
        (NODE % "abandoned" + "SET n.is_root = true", ["parent", "starts"], "abandoned"),
        (NODE % "first" + "MATCH (n)<-[s:STARTS]-() DELETE s", ["starts"], "first"),
        (NODE % "abandoned" + "MATCH (n)-[p:PARENT]->() SET p.child_id = 'x'", ["relationship_key"], "abandoned"),
        (NODE % "compaction" + "MATCH (n)-[o:COMPACTS]->() SET o.readers = ['x']", ["readers"], "compaction"),
        (NODE % "pending" + "SET n:Compaction", ["compaction", "parent"], "pending"),
        (NODE % "hidden" + "SET n.tombstone = 'x'", ["tombstone"], "hidden"),
        (NODE % "hidden" + "SET n.tombstone = null", ["tombstone"], "hidden"),
        (NODE % "first" + "MATCH (n)-[u:USES]->() DELETE u", ["uses"], "first"),
        (NODE % "first" + "REMOVE n:Heavy", ["heavy"], "first"),
        (NODE % "abandoned" + "SET n.tools_hash = 'x'", ["setting", "context_hash"], "abandoned"),
        (NODE % "pending" + "SET n.conversation_id = 'nowhere'", ["owner"], "pending"),
        (NODE % "abandoned" + "SET n.round = 1", ["turn_line"], "abandoned"),
        (TALK + "MATCH (c)-[at:CURSOR]->() DELETE at", ["cursor"], "talk"),
        (TALK + "MATCH (c)-[at:CURSOR]->() SET at.conversation_id = 'x'", ["relationship_key"], "talk"),
        (TALK + "MATCH (c)-[:CURSOR]->(n) SET n.tombstone = n.id, n.deleted_at = datetime()", ["cursor"], "talk"),
        (
            TALK + "MATCH (n:Node {workspace: $workspace, id: $first}) CREATE (c)-[:CURSOR {workspace: $workspace, "
            "conversation_id: 'x'}]->(n)",
            ["cursor", "relationship_key"],
            "talk",
        ),
        (TALK + "SET c.version = c.version + 1", ["version"], "talk"),
        (TALK + "SET c.moves = c.moves + 1", ["moves"], "talk"),
        (TALK + "MATCH (c)-[:MOVED]->(m {seq: 3}) SET m.seq = 300", ["moves", "cursor"], "talk"),
        (TALK + "MATCH (c)-[:MOVED]->(m {seq: 3}) SET m.conversation_id = 'x'", ["moves"], "talk"),
        (TALK + "SET c.turn_id = 'x', c.turn_node_id = 'x'", ["turn"], "talk"),
        ("MATCH (e:Effect {workspace: $workspace, id: $effect}) SET e.arguments = '{}'", ["proposal_hash"], "effect"),
        ("MATCH (e:Effect {workspace: $workspace, id: $effect})<-[p:PROPOSED]-() DELETE p", ["hanging"], "effect"),
    ],
)  # fmt: skip
def test_what_was_damaged_is_found_and_nothing_else(
    store: GraphStore, rich: Rich, how: str, what: list[str], whose: str
) -> None:
    damage(store, rich, how)
    id = getattr(rich, whose)
    assert [one for one in found(store) if one[1] == id] == [(one, id) for one in what]
    elsewhere = [one for one in found(store) if one[1] != id]
    assert elsewhere == [] or how.endswith("n.deleted_at = datetime()"), elsewhere


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ("MATCH (b:Blob {workspace: $workspace}) WHERE b.size > 5000 SET b.data = b.data + 'x'", "blob_sha256"),
        ("MATCH (b:Blob {workspace: $workspace}) WHERE b.size > 5000 SET b.size = 1", "blob_size"),
        ("MATCH (b:Blob {workspace: $workspace})<-[u:USES]-(:ToolResult) DELETE u", "uses"),
        ("MATCH (:Bubble {workspace: $workspace})-[r:OF]->() DELETE r", "hanging"),
        ("MATCH (:Move {workspace: $workspace})<-[r:MOVED]-() WITH r LIMIT 1 DELETE r", "hanging"),
        ("MATCH (f:Fact {workspace: $workspace}) SET f.value = '1'", "value_hash"),
        ("MATCH (:Fact {workspace: $workspace})<-[r:DERIVED]-() DELETE r", "hanging"),
        ("MATCH (f:Feedback {workspace: $workspace}) SET f.rating = 'down'", "given_hash"),
        ("MATCH (l:Label {workspace: $workspace}) SET l.name = 'worst'", "id"),
        ("MATCH (s:Summary {workspace: $workspace}) SET s.id = 'x'", "id"),
        ("MATCH (:Label {workspace: $workspace})-[r:ON]->() DELETE r", "hanging"),
        ("MATCH (:Feedback {workspace: $workspace})-[r:ABOUT]->() DELETE r", "hanging"),
    ],
)
def test_what_hangs_on_nodes_and_what_they_use_is_checked(store: GraphStore, rich: Rich, how: str, what: str) -> None:
    damage(store, rich, how)
    assert what in {one for one, _ in found(store)}


def test_a_changed_answer_is_found_in_its_node_and_in_every_call_that_was_sent_it(store: GraphStore) -> None:
    talk = store.create_conversation()
    nodes = [ask(store, talk, f"Q{n}", f"A{n}") for n in range(4)]
    query = parse(
        "write/of_a_test", "// of a test\nMATCH (n:Node {workspace: $workspace, id: $id}) SET n.returned = $to"
    )
    other = '[{"type":"message","role":"assistant","content":"changed"}]'
    store.session.database.rows(query, workspace=store.workspace, id=nodes[1], to=other)
    assert found(store) == [
        ("result_hash", nodes[1]), ("context_hash", nodes[2]), ("context_hash", nodes[3]),
    ]  # fmt: skip


def test_a_path_that_goes_round_is_found(store: GraphStore, rich: Rich) -> None:
    talk = store.create_conversation()
    first, second = ask(store, talk, "Q1", "A1"), ask(store, talk, "Q2", "A2")
    damage(
        store,
        rich,
        f"MATCH (n:Node {{workspace: $workspace, id: '{first}'}}), (m:Node {{workspace: $workspace, id: '{second}'}}) "
        f"SET n.is_root = false CREATE (n)-[:PARENT {{workspace: $workspace, child_id: '{first}'}}]->(m)",
    )
    assert found(store) == [("path", first), ("path", second)]


def test_the_hashes_of_a_tree_are_made_in_one_pass_down_it(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = store.create_conversation()
    nodes = [ask(store, talk, f"Q{n}", f"A{n}") for n in range(30)]
    store.switch(talk, nodes[10])
    for n in range(5):
        ask(store, talk, f"other {n}", "A")
    whole_paths: list[str] = []
    by_model = verification.reconstruction.by_model

    def noted(session: Any, node_id: str) -> Any:
        whole_paths.append(node_id)
        return by_model(session, node_id)

    monkeypatch.setattr(verification.reconstruction, "by_model", noted)
    assert store.verify().ok
    assert whole_paths == [], "no path was read from its top"


def test_what_is_written_meanwhile_is_no_disagreement(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = store.create_conversation()
    ask(store, talk, "Q", "A")
    rows = store.session.rows
    looks = 0

    def writing(query: Any, **parameters: Any) -> Any:
        nonlocal looks
        result = rows(query, **parameters)
        if query.name == "read/verify_conversations" and looks == 0:
            looks += 1
            result[0]["version"] += 1  # as if a move came between the reads of one look
        return result

    monkeypatch.setattr(store.session, "rows", writing)
    assert store.verify().ok


def test_a_workspace_that_is_being_restored_is_not_verified(store: GraphStore) -> None:
    query = parse("write/of_a_test", "// of a test\nCREATE (:Restoring {workspace: $workspace, sha256: 'x', done: 0})")
    store.session.database.rows(query, workspace=store.workspace)
    with pytest.raises(errors.RestoreInProgress):
        store.verify()


@pytest.mark.rule("L3")
def test_the_command_ends_with_a_code_that_says_whether_all_agrees(
    store: GraphStore, rich: Rich, server: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from graphstore.cli import run

    for name, value in (("URI", server.uri), ("USERNAME", server.username), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"NEO4J_{name}", value)
    assert run(["verify", "--workspace", store.workspace]) == 0
    damage(store, rich, NODE % "first" + "SET n.sent_hash = 'x'")
    assert run(["verify", "--workspace", store.workspace]) == 1
    assert rich.first in capfd.readouterr().out
    assert run(["verify", "--workspace", store.workspace, "--json"]) == 1
    report = json.loads(capfd.readouterr().out)
    assert (report["found"], report["listed"][0]["what"]) == (1, "sent_hash")
