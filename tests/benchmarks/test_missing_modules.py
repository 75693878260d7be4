"""Without the extra that brings its modules, the benchmark command says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT_PSYCOPG = """
import runpy, sys
sys.modules["psycopg"] = None
runpy.run_module("benchmarks", run_name="__main__")
"""


@pytest.mark.parametrize("arguments", [[], ["assembly"], ["--help"]])
def test_a_missing_module_is_named_with_what_to_install(arguments):
    command = [sys.executable, "-c", WITHOUT_PSYCOPG, *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert "'psycopg'" in line
    assert "pip install -e '.[local,dev]'" in line
