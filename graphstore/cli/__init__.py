"""The command line: one file per group of commands, each command a few lines: parse, one verb, show."""

from graphstore.cli.app import app, main, run

__all__ = ["app", "main", "run"]
