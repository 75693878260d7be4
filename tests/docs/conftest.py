"""Where examples run: as a user would, in an empty folder and a workspace of their own."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from graphstore.local import Endpoint


@pytest.fixture
def a_users_folder(server: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NEO4J_URI", server.uri)
    monkeypatch.setenv("NEO4J_USERNAME", server.username)
    monkeypatch.setenv("NEO4J_PASSWORD", server.password)
    monkeypatch.setenv("GRAPHSTORE_WORKSPACE", f"docs-{uuid.uuid4()}")
    monkeypatch.chdir(tmp_path)
