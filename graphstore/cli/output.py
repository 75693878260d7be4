"""Where commands print: JSON for programs, tables and lines for people; nothing else on standard output.

JSON is UTF-8 whatever the terminal's encoding. What people see goes through ``rich`` as ``Text`` objects, never as
its markup, with text from outside made harmless first (``plain``).
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, NoReturn, TextIO

from pydantic import BaseModel
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphstore import jsontext

UNBOUNDED = 4096
"""Columns of a table where nothing bounds the line."""

PIPED = 120
"""Columns of a drawing where nothing bounds the line."""


class PipeClosed(Exception):
    """Whoever read standard output has closed it; no reason to complain."""


class _Out(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the program's one door, which ends quietly."""
        raise PipeClosed


def console() -> Console:
    """Standard output for people."""
    out = _Out(highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not _is_bounded(out):
        out.width = PIPED
    return out


def _is_bounded(out: Console) -> bool:
    """Whether a terminal, or somebody who named COLUMNS, gives the width of a line."""
    return out.is_terminal or bool(os.environ.get("COLUMNS"))


def errors() -> Console:
    """Standard error for people: progress, warnings, errors."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def is_unicode(out: Console) -> bool:
    """Whether the output can show more than ASCII."""
    return "utf" in (out.encoding or "").lower()


def prepared(stream: TextIO) -> TextIO:
    """The stream to print on: what its encoding can't show becomes codes, and no write is cut short unnoticed.

    Under ``PYTHONUNBUFFERED`` Python's own stream drops the rest of a write whose reader left in the middle.
    """
    raw = getattr(stream, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        return io.TextIOWrapper(
            io.BufferedWriter(raw), encoding=stream.encoding, errors="backslashreplace", line_buffering=True
        )
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def as_json(value: Any) -> str:
    """JSON text of models, times and plain values; exact, also for text that is no valid Unicode."""
    return jsontext.dumps(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in (*type(value).model_fields, *(value.model_extra or ()))}
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    return value


def _write(text: str, stream: TextIO) -> None:
    raw = getattr(stream, "buffer", None)
    try:
        if raw is None:
            stream.write(text)
        else:
            stream.flush()
            raw.write(text.encode())
        stream.flush()
    except BrokenPipeError:
        raise PipeClosed from None


def print_json(value: Any) -> None:
    """Print one JSON document."""
    _write(as_json(value) + "\n", sys.stdout)


def print_json_text(text: str) -> None:
    """Print JSON text as it is."""
    _write(text + "\n", sys.stdout)


def print_json_error(value: Any) -> None:
    """Print one JSON document on standard error."""
    _write(as_json(value) + "\n", sys.stderr)


def print_json_list(values: Iterable[Any]) -> None:
    """Print a JSON array, an element a line, as the elements come."""
    first = True
    for value in values:
        _write(("[\n" if first else ",\n") + as_json(value), sys.stdout)
        first = False
    _write("[]\n" if first else "\n]\n", sys.stdout)


def table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table in the house's style; the columns in ``right`` hold numbers."""
    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        number = column in right
        made.add_column(column, justify="right" if number else "left", no_wrap=True, overflow="ellipsis")
    return made


def print_table(made: Table, flexible: str | None = None) -> None:
    """Print a table; only the column ``flexible`` is cut when the line is too short for all."""
    for column in made.columns:
        if column.header != flexible:
            column.min_width = max((cell_len(str(cell)) for cell in column.cells), default=0)
    out = console()
    if not _is_bounded(out):
        out.width = UNBOUNDED
    out.print(made)


def styled(text: str, style: str = "") -> Text:
    """Text of our own, in a style."""
    return Text(text, style=style)


@contextmanager
def step(what: str) -> Iterator[None]:
    """A spinner on standard error while something takes its time, if a person looks at it."""
    err = errors()
    if not err.is_terminal:
        yield
        return
    with err.status(Text(what)):
        yield


def unseen(_done: int, _total: int) -> None:
    """Progress that nobody looks at."""
