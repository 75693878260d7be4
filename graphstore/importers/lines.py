"""Sources in which a conversation is many records: lines that belong together, in one file or several.

A record that is damaged or no object is noted by its number and left out; the others are read. What goes wrong with a
conversation as a whole costs only that conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from graphstore.errors import InvalidInput
from graphstore.importers.records import ImportedConversation, Report


@dataclass(frozen=True, slots=True)
class Parsed:
    """One record of a file: its number, its value, or why it has none."""

    number: int
    value: Any = None
    damage: str | None = None


Values = Callable[[], Iterator[Parsed]]
"""The records of one file; may be asked for more than once."""

READING_ERRORS = (ArithmeticError, AttributeError, InvalidInput, LookupError, TypeError, ValueError)
"""What fields of unforeseen types come to, in any importer."""


def sound(records: Iterable[Parsed], report: Report) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records that are objects, with their numbers; the others are noted."""
    for parsed in records:
        if parsed.damage is not None:
            report.note("damaged", f"record {parsed.number} is left out: {parsed.damage[:200]}")
        elif not isinstance(parsed.value, dict):
            report.note(
                "damaged", f"record {parsed.number} is left out: it is no object but {str(parsed.value)[:80]!r}"
            )
        else:
            yield parsed.number, parsed.value


def whole(source: str, where: str, read: Callable[[Report], ImportedConversation]) -> ImportedConversation:
    """The conversation that ``read`` gives, or a skipped one that says why it can't."""
    report = Report(where)
    try:
        return read(report)
    except READING_ERRORS as error:
        report.skipped = f"it can't be read: {type(error).__name__}: {error}"
    return ImportedConversation(source, report.source_id or where, report, title=report.title)
