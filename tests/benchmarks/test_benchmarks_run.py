"""The benchmark command runs and judges every target; what it measures is not a test's business."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("psycopg")

from benchmarks import postgres, targets

ROOT = Path(__file__).parents[2]


def postgres_is_here() -> bool:
    try:
        postgres.find_programs()
    except postgres.PostgresMissing:
        return False
    return True


@pytest.mark.skipif(not postgres_is_here(), reason="PostgreSQL's server programs are not installed")
@pytest.mark.rule("A7", "Z1")
def test_the_assembly_benchmark_gives_a_ratio_for_every_target_and_later_rounds_read_nothing() -> None:
    command = [sys.executable, "-m", "benchmarks", "assembly", "--json", "--million", "--shrink", "1000"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    judged = {target["name"]: target for target in found["targets"]}
    assert judged.keys() >= {target.name for target in targets.ASSEMBLY_TARGETS}
    counted = judged.pop("reads from the database by a turn's second and later rounds")
    assert counted["ratio"] == 0
    assert all(target["ratio"] > 0 for target in judged.values())
    assert {"neo4j server", "postgresql", "psycopg"} <= found["versions"].keys()
    assert all(figure["min"] <= figure["median"] and figure["repetitions"] >= 2 for figure in found["figures"])
