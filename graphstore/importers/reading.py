"""The door: find the files, tell their format by the first records that show one, read record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphstore.errors import InvalidInput, SourceUnreadable
from graphstore.importers import (
    aistudio,
    chatgpt,
    claude_ai,
    claude_code,
    codex,
    librechat,
    llamacpp,
    oasst,
    openai_jsonl,
    openwebui,
    responses,
    sharegpt,
    sillytavern,
)
from graphstore.importers.lines import READING_ERRORS, Parsed, Values
from graphstore.importers.parse import parse
from graphstore.importers.records import ImportedConversation, Report
from graphstore.importers.sources import Progress, Source, sources
from graphstore.importers.split import Record, records
from graphstore.importers.titles import titled

UNKNOWN = "unknown"
"""The source of a file whose format isn't recognised; such a file is skipped as one conversation."""

_PROBED = 100  # records looked at before a file counts as unknown


@dataclass(frozen=True, slots=True)
class _Format:
    """A format. ``read`` gets one file and its name; ``read_together`` instead all of its files, with theirs."""

    title: str
    recognises: Callable[[Any], bool]
    read: Callable[[Values, str], Iterator[ImportedConversation]] | None = None
    read_together: Callable[[list[tuple[Values, str]]], Iterator[ImportedConversation]] | None = None


def _each(convert: Callable[[Any, Report], ImportedConversation], source: str) -> Any:
    """A reader of files in which every record is a conversation."""

    def reader(values: Values, file: str) -> Iterator[ImportedConversation]:
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
        except READING_ERRORS as error:
            report.skipped = f"it can't be read: {type(error).__name__}: {error}"
    return ImportedConversation(source, report.source_id or where, report, title=report.title)


def _oasst(values: Values, file: str) -> Iterator[ImportedConversation]:
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


def _openai(values: Values, file: str) -> Iterator[ImportedConversation]:
    rows = openai_jsonl.Rows()
    for parsed in values():
        yield converted(parsed, rows.conversation, openai_jsonl.SOURCE, file)


def _sharegpt(values: Values, file: str) -> Iterator[ImportedConversation]:
    rows = sharegpt.Rows()
    for parsed in values():
        yield converted(parsed, rows.conversation, sharegpt.SOURCE, file)


_FORMATS: dict[str, _Format] = {
    "chatgpt": _Format("ChatGPT export", chatgpt.recognises, _each(chatgpt.conversation, chatgpt.SOURCE)),
    "claude_ai": _Format("Claude.ai export", claude_ai.recognises, _each(claude_ai.conversation, claude_ai.SOURCE)),
    "openwebui": _Format("Open WebUI chats", openwebui.recognises, _each(openwebui.conversation, openwebui.SOURCE)),
    "librechat": _Format("LibreChat exports", librechat.recognises, _each(librechat.conversation, librechat.SOURCE)),
    "oasst": _Format("OpenAssistant trees, messages or threads", oasst.recognises, _oasst),
    "openai_jsonl": _Format("OpenAI messages JSONL", openai_jsonl.recognises, _openai),
    "sharegpt": _Format("ShareGPT rows", sharegpt.recognises, _sharegpt),
    "sillytavern": _Format("SillyTavern chats", sillytavern.recognises, read_together=sillytavern.read_together),
    "aistudio": _Format("Google AI Studio prompts", aistudio.recognises, aistudio.read),
    "responses": _Format("OpenAI Responses", responses.recognises, read_together=responses.read_together),
    "claude_code": _Format("Claude Code sessions", claude_code.recognises, read_together=claude_code.read_together),
    "codex": _Format("Codex sessions", codex.recognises, read_together=codex.read_together),
    "llamacpp": _Format("llama.cpp web UI", llamacpp.recognises, llamacpp.read),
}

FORMATS: tuple[str, ...] = tuple(_FORMATS)
"""The names of the formats that ``read`` knows."""


def detect(path: Path | str) -> str:
    """The format of the first file in ``path`` that has one.

    Raises ``SourceUnreadable`` when no format is recognised.
    """
    path = Path(path)
    return next(file.format for file in _recognised(path, sources(path)) if file.format is not None)


def read(
    path: Path | str, format: str | None = None, progress: Progress | None = None
) -> Iterator[ImportedConversation]:
    """Every conversation in a file, gzip file, zip or folder, in order, one at a time.

    ``format`` (one of ``FORMATS``) skips recognition. ``progress`` is called with bytes done and in all.
    A record that can't be read gives a conversation with ``report.skipped`` set, and the rest goes on; so does each
    file of a zip or folder whose format isn't recognised (its ``source`` is ``unknown``).
    Raises ``SourceUnreadable``, before the first conversation, when nothing in ``path`` can be read.
    """
    path = Path(path)
    if format is not None and format not in _FORMATS:
        raise SourceUnreadable(f"{format!r} is no known format; known are {', '.join(FORMATS)}")
    found = sources(path)
    files = [_File(source, format) for source in found] if format else _recognised(path, found)
    return _conversations(files, sum(file.source.size for file in files), progress)


def _conversations(files: list[_File], total: int, progress: Progress | None) -> Iterator[ImportedConversation]:
    begins = dict(zip((file.source.name for file in files), _sums(file.source.size for file in files), strict=True))

    def values(source: Source) -> Values:
        done = begins[source.name]
        told = (lambda read: progress(min(done + read, total), total)) if progress else None
        return lambda: _values(source, told)

    read_already: set[str] = set()
    for file in files:
        source = file.source
        if file.format is None:
            report = Report(source.name, skipped=f"no known format (found {file.what})")
            yield ImportedConversation(UNKNOWN, source.name, report)
            continue
        format = _FORMATS[file.format]
        if format.read is not None:
            yield from map(titled, format.read(values(source), source.name))
        elif format.read_together is not None and file.format not in read_already:
            read_already.add(file.format)
            alike = [(values(each.source), each.source.name) for each in files if each.format == file.format]
            yield from map(titled, format.read_together(alike))
    if progress:
        progress(total, total)


def _sums(sizes: Iterable[int]) -> Iterator[int]:
    """For each of some sizes, the sum of those before it."""
    total = 0
    for size in sizes:
        yield total
        total += size


def _values(source: Source, told: Callable[[int], None] | None = None) -> Iterator[Parsed]:
    try:
        with source.open(told) as stream:
            for record in records(stream):
                yield _value(record)
    except OSError as error:
        # only opening can fail like this: records() itself tells of a stream that ends in damage
        yield Parsed(0, damage=f"it can't be opened: {error.strerror or error}")


def _value(record: Record) -> Parsed:
    if record.damage is not None:
        return Parsed(record.number, damage=record.damage)
    try:
        return Parsed(record.number, parse(record.text, record.value))
    except InvalidInput as error:
        return Parsed(record.number, damage=str(error))


@dataclass(frozen=True, slots=True)
class _File:
    """A file, its format (``None``: not recognised), and what is in it in words."""

    source: Source
    format: str | None
    what: str = ""


def _recognised(path: Path, found: list[Source]) -> list[_File]:
    """Every file with the format that its first records show; at least one has one."""
    files = [_probe(source) for source in found]
    if any(file.format is not None for file in files):
        return files
    known = ", ".join(f"{name} ({format.title})" for name, format in _FORMATS.items())
    seen = "; ".join(f"{file.source.name!r}: {file.what}" for file in files[:5])
    more = f" and {len(files) - 5} more files" if len(files) > 5 else ""
    raise SourceUnreadable(f"no known format in {str(path)!r} (found {seen}{more}); known are {known}")


def _probe(source: Source) -> _File:
    what = "nothing but white space"
    for count, parsed in enumerate(_values(source)):
        for name, format in _FORMATS.items():
            if parsed.damage is None and format.recognises(parsed.value):
                return _File(source, name, format.title)
        if count == 0:
            what = _words(parsed)
        if count >= _PROBED:
            break
    return _File(source, None, what)


def _words(parsed: Parsed) -> str:
    if parsed.damage is not None:
        return f"damaged: {parsed.damage[:200]}"
    if not isinstance(parsed.value, dict):
        return f"records that are no objects but {type(parsed.value).__name__}"
    keys = ", ".join(repr(key) for key in list(parsed.value)[:8]) or "no keys"
    hint = ", whose messages are linked as a tree" if openai_jsonl.links_messages(parsed.value) else ""
    return f"objects with {keys}{hint}"
