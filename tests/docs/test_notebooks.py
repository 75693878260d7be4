"""The notebooks run from their first cell to the last, and keep no output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def cells(notebook: Path) -> list[dict[str, object]]:
    found = json.loads(notebook.read_text("utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
@pytest.mark.usefixtures("a_users_folder")
def test_the_cells_run_one_after_the_other(notebook):
    names: dict[str, object] = {"__name__": "notebook"}
    for number, cell in enumerate(cells(notebook), 1):
        exec(compile("".join(cell["source"]), f"{notebook.name}, cell {number}", "exec"), names)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_no_output_is_kept(notebook):
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells(notebook))


def test_there_is_a_first_look():
    assert "first_look.ipynb" in [notebook.name for notebook in NOTEBOOKS]
