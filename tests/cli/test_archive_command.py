"""``graphstore archive``, and ``import`` of an archive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphstore import GraphStore


@pytest.mark.rule("I7", "L3")
def test_a_workspace_is_archived_checked_and_restored_by_commands(
    cli, store: GraphStore, other_store: GraphStore, tmp_path: Path
) -> None:
    store.create_conversation(id="one", title="talk")
    file = str(tmp_path / "backup.gz")
    written = cli("archive", "export", file)
    assert (written.code, "1 Conversation" in written.out, written.err) == (0, True, "")
    again = cli("archive", "export", file)
    assert again.code == 2
    assert "already" in again.err
    assert json.loads(cli("archive", "check", file, "--json").out)["counts"] == {"Conversation": 1}
    refused = cli("archive", "import", file)
    assert refused.code == 1
    assert "not empty" in refused.err
    assert cli("archive", "import", file, "--workspace", other_store.workspace).code == 0
    assert other_store.conversation("one").title == "talk"


@pytest.mark.rule("I7", "I1")
def test_import_knows_an_archive_by_its_content(
    cli, store: GraphStore, other_store: GraphStore, tmp_path: Path
) -> None:
    store.create_conversation(id="one")
    store.archive.export(tmp_path / "any.name")
    ended = cli("import", str(tmp_path / "any.name"), "--workspace", other_store.workspace, "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["counts"] == {"Conversation": 1}
    assert other_store.conversation("one").id == "one"


@pytest.mark.rule("I7")
def test_a_damaged_archive_has_the_exit_code_of_an_unreadable_file(cli, store: GraphStore, tmp_path: Path) -> None:
    path = tmp_path / "backup.gz"
    store.archive.export(path)
    path.write_bytes(path.read_bytes()[:-9])
    ended = cli("archive", "import", str(path))
    assert ended.code == 5
    assert "Traceback" not in ended.err
