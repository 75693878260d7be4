"""Conversations to export, and the export of a store as a test sees it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphstore import GraphStore
from graphstore.analytics import ExportReport, export_preferences


@dataclass(frozen=True)
class Exported:
    folder: Path
    report: ExportReport
    rows: list[dict[str, Any]]
    manifest: dict[str, Any]

    @property
    def answers(self) -> list[tuple[str, str]]:
        """Chosen and rejected text of every row."""
        return [(row["chosen"][0]["content"], row["rejected"][0]["content"]) for row in self.rows]

    @property
    def meta(self) -> list[dict[str, Any]]:
        return [json.loads(row["meta"]) for row in self.rows]


Export = Callable[..., Exported]


@pytest.fixture
def export(store: GraphStore, tmp_path: Path) -> Export:
    """Export the store's pairs into a new folder."""
    count = 0

    def run(**options: Any) -> Exported:
        nonlocal count
        count += 1
        folder = tmp_path / f"export-{count}"
        report = export_preferences(store, folder, **options)
        rows = [json.loads(line) for line in (folder / "preferences.jsonl").read_text().splitlines()]
        manifest = json.loads((folder / "manifest.json").read_text())
        assert report.candidates == report.rows + sum(report.left_out.values()), "a candidate is not accounted for"
        assert manifest["left_out"] == report.left_out
        assert len(rows) == report.rows
        return Exported(folder, report, rows, manifest)

    return run


class Talk:
    """One conversation, spoken in one line each. Questions and answers are plain text."""

    def __init__(self, store: GraphStore, conversation_id: str | None = None, **options: Any) -> None:
        self.store = store
        self.id = conversation_id or store.create_conversation()
        self.options = options

    def ask(self, question: str, answer: str, **settled: Any) -> str:
        with self.store.turn(self.id) as turn:
            call = turn.call(question, **self.options)
            call.succeed(answer, **settled)
        return call.id

    def again(self, answer: str, node_id: str | None = None, **settled: Any) -> str:
        with self.store.regenerate(self.id, node_id) as turn:
            turn.current.succeed(answer, **settled)
        return turn.current.id

    def edit(self, node_id: str, question: str, answer: str) -> str:
        with self.store.edit(self.id, node_id, question) as turn:
            turn.current.succeed(answer)
        return turn.current.id


@pytest.fixture
def talk(store: GraphStore) -> Callable[..., Talk]:
    return lambda conversation_id=None, **options: Talk(store, conversation_id, **options)
