"""The comparison with other stores runs and judges every target; what it measures is not a test's business."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("psycopg")

from benchmarks import postgres
from benchmarks.peers import catalogue, goals, workloads

ROOT = Path(__file__).parents[2]


def postgres_is_here() -> bool:
    try:
        postgres.find_programs()
    except postgres.PostgresMissing:
        return False
    return True


def peers(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", "peers", "--json", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


@pytest.mark.skipif(not postgres_is_here(), reason="PostgreSQL's server programs are not installed")
@pytest.mark.rule("S7", "C3", "X1")
def test_graphstore_and_a_plain_table_are_judged_and_every_loser_of_a_race_is_kept() -> None:
    done = peers("--shrink", "1000", "--peers", "graphstore,graphstore-turns,postgres,postgres-best")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    judged = {target["name"]: target for target in found["targets"]}
    assert judged.keys() == {target.name for target in goals.PEER_TARGETS}
    unmeasured = {name for name, target in judged.items() if target["ratio"] is None}
    assert unmeasured == {name for name in judged if "LangGraph" in name}
    assert all(judged[name]["ratio"] == 0 for name in judged if name.startswith("race: calls"))
    assert judged["race: losers told and kept, a round"]["met"]
    figures = {(figure["group"], figure["name"]): figure for figure in found["figures"]}
    assert figures[goals.W1_DISK, goals.OURS]["min"] > 0
    assert figures[goals.RACE_TOLD, goals.PLAIN]["median"] == figures[goals.RACE_TOLD, goals.OURS]["median"] == 5
    assert figures[goals.RACE_KEPT, goals.PLAIN]["median"] == 0
    assert (found["settings"]["left out"], found["settings"]["notes"]) == ({}, {})
    assert {"neo4j server", "postgresql", "conversation-graphstore"} <= found["versions"].keys()


@pytest.mark.skipif(not postgres_is_here(), reason="PostgreSQL's server programs are not installed")
def test_a_store_that_has_used_up_its_time_is_stopped_and_the_report_says_where() -> None:
    done = peers("--shrink", "1000", "--peers", "postgres", "--budget", "0")
    assert done.returncode == 0, done.stderr
    notes = json.loads(done.stdout)["settings"]["notes"][goals.PLAIN]
    assert [note.split(" stopped")[0] for note in notes] == ["W1", "W2", "W3", "race"]
    assert notes[0] == "W1 stopped at turn 1 of 20 (time)"


def test_a_store_whose_package_is_missing_is_left_out_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("benchmarks.peers.llm_log", "benchmarks.peers.openai_agents"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "sqlite_utils", None)
    monkeypatch.setitem(sys.modules, "agents", None)
    found, left_out = catalogue.find(["llm", "graphstore", "openai-agents"])
    assert [one.name for one in found] == [goals.OURS]
    assert left_out.keys() == {"llm", "openai-agents"}
    assert "'sqlite_utils'" in left_out["llm"]
    assert "pip install -e '.[peers]'" in left_out["llm"]


def test_a_store_that_is_not_known_is_refused_with_those_that_are() -> None:
    done = peers("--peers", "graphstore,mongo")
    assert done.returncode == 2
    assert "'mongo'" in done.stderr


def test_the_workloads_are_what_they_are_said_to_be() -> None:
    turns = workloads.turns(200)
    assert sum(len(attempt) for attempts in turns for attempt in attempts) == 600
    assert [number for number, attempts in enumerate(turns, 1) if len(attempts) == 6] == list(range(10, 201, 10))
    results = {attempt[1].sent[0].text for attempts in turns[9::10] for attempt in attempts}
    assert {len(text) for text in results} == {40_000}
    assert len(results) == 1
    assert {len(text) for text in workloads.texts(workloads.line(1000))} == {1000}


def test_the_tree_has_as_many_nodes_and_branch_points_as_the_largest_reported() -> None:
    tree = workloads.tree(10_671, 275, 64)
    children: dict[int | None, int] = {}
    for parent, _ in tree.nodes:
        children[parent] = children.get(parent, 0) + 1
    assert (len(tree.nodes), len(tree.lines[0])) == (10_671, 64)
    assert sum(many == 2 for many in children.values()) == 275
    assert max(children.values()) == 2
    assert tree.branch_point in tree.lines[0]
    assert all(parent is None or parent < node for node, (parent, _) in enumerate(tree.nodes))
