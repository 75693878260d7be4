"""What a run found, as JSON or as tables."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table

from benchmarks.timing import Figure

PACKAGES = ("neo4j", "neo4j-rust-ext", "psycopg", "orjson")


@dataclass(frozen=True)
class Report:
    """Versions, settings, all figures, and each target with its ratio."""

    benchmark: str
    versions: dict[str, str]
    settings: dict[str, Any]
    figures: Sequence[Figure]
    targets: Sequence[dict[str, Any]]

    def json(self) -> str:
        """Machine readable; times in milliseconds."""
        document = {
            "benchmark": self.benchmark,
            "machine": {"cpus": os.cpu_count(), "system": platform.system()},
            "versions": {**self.versions, **{name: version(name) for name in PACKAGES}, **_python()},
            "settings": self.settings,
            "figures": [
                {
                    "group": figure.group,
                    "name": figure.name,
                    "unit": figure.unit,
                    "min": round(figure.minimum, 4),
                    "median": round(figure.median, 4),
                    "repetitions": len(figure.values),
                }
                for figure in self.figures
            ],
            "targets": list(self.targets),
        }
        return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()

    def show(self, console: Console) -> None:
        """Tables for a person."""
        for group in dict.fromkeys(figure.group for figure in self.figures):
            members = [figure for figure in self.figures if figure.group == group]
            table = Table("", "min", "median", "repetitions", title=group, title_justify="left")
            for column in table.columns[1:]:
                column.justify = "right"
            for figure in members:
                table.add_row(
                    figure.name,
                    _number(figure, figure.minimum),
                    _number(figure, figure.median),
                    str(len(figure.values)),
                )
            console.print(table)
        table = Table("target", "ratio", "of minima", "bound", "met", title="Targets", title_justify="left")
        for target in self.targets:
            missing = target["ratio"] is None
            table.add_row(
                target["name"],
                f"run with {target['needs']}" if missing else f"{target['ratio']:.2f}",
                "" if missing else f"{target['ratio_of_minima']:.2f}",
                f"{target['bound_is']} {target['bound']}",
                "" if missing else "[green]yes[/]" if target["met"] else "[red]no[/]",
            )
        console.print(table)
        console.print(", ".join(f"{name} {value}" for name, value in self.versions.items()), style="dim")
        console.print(", ".join(f"{name}: {value}" for name, value in self.settings.items()), style="dim")


def _python() -> dict[str, str]:
    return {"python": platform.python_version()}


def _number(figure: Figure, value: float) -> str:
    return f"{value:,.2f} ms" if figure.unit == "ms" else f"{value:,.0f} {figure.unit}"
