"""An archive as a file: gzip'd JSON lines, a header first and a footer last (rule I7).

The footer has the number of records of each kind and the SHA-256 of every line before it, so that a file that was cut
or changed is told from a whole one before anything of it is stored.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import orjson

from graphstore.errors import ArchiveUnreadable, InvalidInput

FORMAT = "graphstore-archive"
VERSION = 1
LEVEL = 3
"""Of gzip: a third faster than its default, and some 5 % larger."""

Read = Callable[[int, int], object]
"""Called with how many bytes of the file were read, and their total."""


@dataclass(frozen=True)
class Header:
    """What an archive is of: the workspace it was made of, and the schema that its things follow."""

    workspace: str
    schema: int


@dataclass(frozen=True)
class Whole:
    """What is known of an archive once all of it was read: its header, records of each kind, and its SHA-256."""

    header: Header
    counts: dict[str, int]
    sha256: str

    @property
    def records(self) -> int:
        """The number of all records."""
        return sum(self.counts.values())


def text_of(value: Any) -> bytes:
    """One line: the same value gives the same bytes."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


class Writer:
    """Writes an archive beside its final place, and puts it there once it is whole."""

    def __init__(self, path: Path, header: Header, *, overwrite: bool) -> None:
        if path.exists() and not overwrite:
            raise InvalidInput(f"there is a file {str(path)!r} already; choose another name, or overwrite it")
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._raw: BinaryIO = self._part.open("wb")
        # No name and no time in gzip's own header: the same content gives the same file.
        self._packed = gzip.GzipFile("", "wb", LEVEL, self._raw, mtime=0)
        self._hash = hashlib.sha256()
        self.counts: Counter[str] = Counter()
        self._line({"format": FORMAT, "version": VERSION, "schema": header.schema, "workspace": header.workspace})

    def _line(self, value: Any) -> None:
        line = text_of(value) + b"\n"
        self._hash.update(line)
        self._packed.write(line)

    def put(self, kind: str, record: dict[str, Any]) -> None:
        """Write one record."""
        self._line({"kind": kind, **record})
        self.counts[kind] += 1

    def finish(self) -> str:
        """Write the footer and put the file in its place; returns the archive's SHA-256."""
        digest = self._hash.hexdigest()
        self._line({"end": dict(self.counts), "sha256": digest})
        self._packed.close()
        self._raw.flush()
        os.fsync(self._raw.fileno())
        self._raw.close()
        self._part.replace(self._path)
        return digest

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._raw.closed:
            self._raw.close()
            self._part.unlink(missing_ok=True)


def is_archive(path: Path) -> bool:
    """Whether a file begins as an archive does; a pipe is left unread, for opening one waits for its writer."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as unpacked:
            return FORMAT.encode() in unpacked.readline(10_000)
    except (OSError, EOFError, zlib.error):
        return False


def check(path: Path, schema: int, read: Read) -> Whole:
    """Read an archive from end to end without storing anything.

    Raises ``ArchiveUnreadable`` for what is none, was cut or damaged, or was made by a newer program.
    """
    digest = hashlib.sha256()
    counts: Counter[str] = Counter()
    header: Header | None = None
    whole: Whole | None = None
    for line in _lines(path, read):
        value = _value(path, line)
        if whole is not None:
            raise ArchiveUnreadable(str(path), "something follows its footer")
        if header is None:
            header = _header(path, value, schema)
        elif "end" in value:
            if value["end"] != dict(counts) or value["sha256"] != digest.hexdigest():
                raise ArchiveUnreadable(str(path), "its content is not what its footer says: it was changed or damaged")
            whole = Whole(header, dict(counts), digest.hexdigest())
        else:
            counts[value["kind"]] += 1
        digest.update(line)
    if whole is not None:  # and the file's own end mark was met
        return whole
    raise ArchiveUnreadable(str(path), "it has no footer: it was cut, or its export never finished")


def records(path: Path, read: Read) -> Iterator[dict[str, Any]]:
    """The records of an archive that was checked."""
    lines = _lines(path, read)
    next(lines)
    for line in lines:
        value = orjson.loads(line)
        if "end" in value:
            return
        yield value


def _lines(path: Path, read: Read) -> Iterator[bytes]:
    if path.exists() and not path.is_file():  # it is read twice, and a pipe might never end
        raise ArchiveUnreadable(str(path), "it is no file; save it as one and restore that")
    try:
        total = path.stat().st_size
        with path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as unpacked:
            for number, line in enumerate(unpacked):
                if number % 1000 == 0:
                    read(raw.tell(), total)
                yield line
            read(total, total)
    except (OSError, EOFError, zlib.error) as error:
        raise ArchiveUnreadable(str(path), f"it can't be unpacked: {error}") from None


def _value(path: Path, line: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise ArchiveUnreadable(str(path), "it has a line that is no JSON") from None
    if not isinstance(value, dict) or not (value.keys() & {"format", "kind", "end"}):
        raise ArchiveUnreadable(str(path), "it has a line that is no record of an archive")
    return value


def _header(path: Path, value: dict[str, Any], schema: int) -> Header:
    if value.get("format") != FORMAT:
        raise ArchiveUnreadable(str(path), "its first line is not the header of an archive")
    if value["version"] > VERSION:
        raise ArchiveUnreadable(
            str(path),
            f"it is of format version {value['version']}, and this program knows {VERSION}: "
            "upgrade conversation-graphstore",
        )
    if value["schema"] > schema:
        raise ArchiveUnreadable(
            str(path),
            f"it was made of schema version {value['schema']}, and this program knows {schema}: "
            "upgrade conversation-graphstore",
        )
    return Header(value["workspace"], value["schema"])
