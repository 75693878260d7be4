"""The door: find the files, tell their format by the first records that show one, read record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from graphstore.errors import InvalidInput, SourceUnreadable
from graphstore.importers import chatgpt, claude_ai, oasst, openai_jsonl
from graphstore.importers.parse import parse
from graphstore.importers.records import ImportedConversation, Report
from graphstore.importers.sources import Progress, Source, sources
from graphstore.importers.split import Record, records

_PROBED = 100  # records looked at before a file counts as unknown


@dataclass(frozen=True, slots=True)
class Parsed:
    """One record of a file: its number, its value, or why it has none."""

    number: int
    value: Any = None
    damage: str | None = None


@dataclass(frozen=True, slots=True)
class _Format:
    title: str
    recognises: Callable[[Any], bool]
    read: Callable[[Callable[[], Iterator[Parsed]], str], Iterator[ImportedConversation]]


def _each(convert: Callable[[Any, Report], ImportedConversation], source: str) -> Any:
    """A reader of files in which every record is a conversation."""

    def reader(values: Callable[[], Iterator[Parsed]], file: str) -> Iterator[ImportedConversation]:
        for parsed in values():
            yield converted(parsed, convert, source, file)

    return reader


def converted(
    parsed: Parsed, convert: Callable[[Any, Report], ImportedConversation], source: str, file: str
) -> ImportedConversation:
    """The conversation of one record, or a skipped one that says why."""
    where = f"{file}[{parsed.number}]"
    report = Report(where)
    if parsed.damage is not None:
        report.skipped = parsed.damage
    elif not isinstance(parsed.value, dict):
        report.skipped = f"it is no object but {str(parsed.value)[:80]!r}"
    else:
        try:
            return convert(parsed.value, report)
        except (ArithmeticError, AttributeError, InvalidInput, LookupError, TypeError, ValueError) as error:
            report.skipped = f"it can't be read: {type(error).__name__}: {error}"
    return ImportedConversation(source, report.source_id or where, report, title=report.title)


def _oasst(values: Callable[[], Iterator[Parsed]], file: str) -> Iterator[ImportedConversation]:
    """Trees and threads row by row; flat messages gathered by tree."""

    def rows() -> Iterator[tuple[int, Any]]:
        for parsed in values():
            yield parsed.number, parsed if parsed.damage is not None else parsed.value

    for number, row in oasst.grouped(rows):
        if isinstance(row, list):
            gathered = Parsed(number, {"rows": row})
            yield converted(gathered, _gathered, oasst.SOURCE, file)
        else:
            parsed = row if isinstance(row, Parsed) else Parsed(number, row)
            yield converted(parsed, oasst.conversation, oasst.SOURCE, file)


def _gathered(value: Any, report: Report) -> ImportedConversation:
    return oasst.conversation_of_messages(value["rows"], report)


def _openai(values: Callable[[], Iterator[Parsed]], file: str) -> Iterator[ImportedConversation]:
    rows = openai_jsonl.Rows()
    for parsed in values():
        yield converted(parsed, rows.conversation, openai_jsonl.SOURCE, file)


_FORMATS: dict[str, _Format] = {
    "chatgpt": _Format("ChatGPT export", chatgpt.recognises, _each(chatgpt.conversation, chatgpt.SOURCE)),
    "claude_ai": _Format("Claude.ai export", claude_ai.recognises, _each(claude_ai.conversation, claude_ai.SOURCE)),
    "oasst": _Format("OpenAssistant trees, messages or threads", oasst.recognises, _oasst),
    "openai_jsonl": _Format("OpenAI messages JSONL", openai_jsonl.recognises, _openai),
}

FORMATS: tuple[str, ...] = tuple(_FORMATS)
"""The names of the formats that ``read`` knows."""


def detect(path: Path | str) -> str:
    """The format of the first file in ``path`` that has one.

    Raises ``SourceUnreadable`` when no format is recognised.
    """
    path = Path(path)
    return _recognised(path, sources(path))[0][1]


def read(
    path: Path | str, format: str | None = None, progress: Progress | None = None
) -> Iterator[ImportedConversation]:
    """Every conversation in a file, gzip file, zip or folder, in order, one at a time.

    ``format`` (one of ``FORMATS``) skips recognition. ``progress`` is called with bytes done and in all.
    A record that can't be read gives a conversation with ``report.skipped`` set, and the rest goes on.
    Raises ``SourceUnreadable``, before the first conversation, when nothing in ``path`` can be read.
    """
    path = Path(path)
    if format is not None and format not in _FORMATS:
        raise SourceUnreadable(f"{format!r} is no known format; known are {', '.join(FORMATS)}")
    found = sources(path)
    chosen = [(source, format) for source in found] if format else _recognised(path, found)
    total = sum(source.size for source, _ in chosen)
    return _conversations(chosen, total, progress)


def _conversations(
    chosen: list[tuple[Source, str]], total: int, progress: Progress | None
) -> Iterator[ImportedConversation]:
    done = 0
    for source, format in chosen:

        def values(source: Source = source, done: int = done) -> Iterator[Parsed]:
            told = (lambda read: progress(min(done + read, total), total)) if progress else None
            with source.open(told) as stream:
                yield from _parsed(stream)

        yield from _FORMATS[format].read(values, source.name)
        done += source.size
    if progress:
        progress(total, total)


def _parsed(stream: BinaryIO) -> Iterator[Parsed]:
    for record in records(stream):
        yield _value(record)


def _value(record: Record) -> Parsed:
    if record.damage is not None:
        return Parsed(record.number, damage=record.damage)
    try:
        return Parsed(record.number, parse(record.text, record.value))
    except InvalidInput as error:
        return Parsed(record.number, damage=str(error))


def _recognised(path: Path, found: list[Source]) -> list[tuple[Source, str]]:
    """The files whose first records show a format, with it."""
    chosen = []
    seen = []
    for source in found:
        format, what = _probe(source)
        if format is not None:
            chosen.append((source, format))
        seen.append(f"{source.name!r}: {what}")
    if chosen:
        return chosen
    known = ", ".join(f"{name} ({format.title})" for name, format in _FORMATS.items())
    more = f" and {len(seen) - 5} more files" if len(seen) > 5 else ""
    raise SourceUnreadable(f"no known format in {str(path)!r} (found {'; '.join(seen[:5])}{more}); known are {known}")


def _probe(source: Source) -> tuple[str | None, str]:
    """The format of a file, and what its first record is in words."""
    what = "nothing but white space"
    with source.open() as stream:
        for count, parsed in enumerate(_parsed(stream)):
            for name, format in _FORMATS.items():
                if parsed.damage is None and format.recognises(parsed.value):
                    return name, format.title
            if count == 0:
                what = _words(parsed)
            if count >= _PROBED:
                break
    return None, what


def _words(parsed: Parsed) -> str:
    if parsed.damage is not None:
        return f"damaged: {parsed.damage[:200]}"
    if not isinstance(parsed.value, dict):
        return f"records that are no objects but {type(parsed.value).__name__}"
    keys = ", ".join(repr(key) for key in list(parsed.value)[:8]) or "no keys"
    turns = parsed.value.get("conversations")
    hint = ", which looks like ShareGPT" if isinstance(turns, list) else ""
    if openai_jsonl.links_messages(parsed.value):
        hint = ", whose messages are linked as a tree"
    return f"objects with {keys}{hint}"
