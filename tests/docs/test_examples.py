"""The Python in README.md and docs/ runs as it stands, a page's blocks one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text("utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.usefixtures("a_users_folder")
def test_the_examples_of_a_page_run(page):
    names: dict[str, object] = {"__name__": "example"}
    for number, block in enumerate(blocks(page), 1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)


def test_readme_has_examples():
    assert blocks(ROOT / "README.md")
