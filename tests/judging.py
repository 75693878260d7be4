"""Judges: the consumers' own code, run in an environment of its own so that the product's never meets it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = Path(__file__).parent / "judges"


def judge(script: str, *arguments: str | Path) -> Any:
    """What a script of ``tests/judges`` prints as JSON.

    Without the judges' environment the test is skipped, but never in CI.
    """
    folder = Path(os.environ.get("GRAPHSTORE_JUDGES") or ROOT / ".judges")
    python = folder / "bin" / "python"
    if not python.is_file():
        missing = f"there is no judges' environment in {folder}; .ci/judges makes it"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    done = subprocess.run(
        [python, SCRIPTS / script, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)
