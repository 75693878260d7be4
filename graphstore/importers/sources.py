"""From a path to named streams of bytes: a file, a gzip file, a zip, a folder.

What a file is, is told by its first bytes, never by its name; names only give the order of several files
(``conversations-2.json`` before ``conversations-10.json``) and keep media out of the search.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from graphstore.errors import SourceUnreadable

Progress = Callable[[int, int], None]

_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib's word for: a gzip header, any window
_PACKED = 1 << 16  # packed bytes read at a time
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_JSON_NAME = re.compile(r"\.(?:json|jsonl|ndjson)(?:\.gz)?$|\.gz$", re.I)
_CONVERSATIONS = re.compile(r"(?:^|/)conversations(?:-\d+)?\.jsonl?(?:\.gz)?$", re.I)


class _Counted:
    """A binary stream that says how far it was read."""

    def __init__(self, stream: BinaryIO, told: Callable[[int], None]) -> None:
        self._stream = stream
        self._told = told
        self._read = 0

    def read(self, size: int = -1) -> bytes:
        chunk = self._stream.read(size)
        self._read += len(chunk)
        self._told(self._read)
        return chunk

    def close(self) -> None:
        self._stream.close()


class _Gunzipped:
    """The unpacked bytes of a gzip stream; of a damaged one, all those before the damage (unlike ``gzip``)."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._inflate = zlib.decompressobj(_GZIP_WINDOW)
        self._packed = b""

    def read(self, size: int) -> bytes:
        while True:
            if self._inflate.eof:  # another member may follow, or padding
                self._packed = (self._inflate.unused_data or self._raw.read(_PACKED)).lstrip(b"\0")
                if not self._packed:
                    return b""
                self._inflate = zlib.decompressobj(_GZIP_WINDOW)
            packed = self._packed or self._raw.read(_PACKED)
            unpacked = self._inflate.decompress(packed, size)
            self._packed = self._inflate.unconsumed_tail
            if unpacked:
                return unpacked
            if not packed and not self._inflate.eof:
                raise EOFError("it ends before its own end mark")


class _Packed:
    """A decompressing stream whose damage is an ``OSError`` that says so."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name

    def read(self, size: int = -1) -> bytes:
        try:
            return self._stream.read(size)
        except (EOFError, OSError, zlib.error, zipfile.BadZipFile) as error:
            raise OSError(f"the compressed data of {self._name!r} is damaged or cut off ({error})") from error


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read: ``open`` gives its (decompressed) bytes from the start, as often as asked."""

    name: str
    size: int
    _raw: Callable[[], BinaryIO]

    @contextmanager
    def open(self, told: Callable[[int], None] | None = None) -> Iterator[BinaryIO]:
        """A stream of the file's bytes; ``told`` hears how many bytes of ``size`` have been read."""
        with self._raw() as raw:
            start = _Packed(raw, self.name).read(2)
        with self._raw() as raw:
            stream = cast(BinaryIO, _Counted(raw, told)) if told else raw
            if start == _GZIP:
                stream = cast(BinaryIO, _Gunzipped(stream))
            yield cast(BinaryIO, _Packed(stream, self.name))


def sources(path: Path) -> list[Source]:
    """The files to look at in ``path``, in order.

    In a zip or folder: the ``conversations*.json`` files if there are any, else every JSON file.
    Raises ``SourceUnreadable`` when there is nothing to look at.
    """
    if not path.exists():
        raise SourceUnreadable(f"there is no file or folder {str(path)!r}; check the path")
    try:
        if path.is_dir():
            return _chosen(str(path), _in_folder(path))
        if not path.is_file():  # it is read more than once, and a pipe might never end
            raise SourceUnreadable(f"{str(path)!r} is a pipe or a device; save it as a file and import that")
        with path.open("rb") as stream:
            start = stream.read(4)
        if not start:
            raise SourceUnreadable(f"{str(path)!r} is empty; export or download it again")
        if start in _ZIP:
            return _chosen(str(path), _in_zip(path))
        return [Source(path.name, path.stat().st_size, lambda: path.open("rb"))]
    except (OSError, zipfile.BadZipFile) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise SourceUnreadable(f"{str(path)!r} can't be read: {why}") from error


def _in_folder(folder: Path) -> list[Source]:
    found = []
    for file in folder.rglob("*"):
        if file.is_file() and _JSON_NAME.search(file.name):
            name = file.relative_to(folder).as_posix()
            found.append(Source(name, file.stat().st_size, lambda file=file: file.open("rb")))  # type: ignore[misc]
    return found


def _in_zip(path: Path) -> list[Source]:
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if not info.is_dir() and _JSON_NAME.search(info.filename)]
        if any(info.flag_bits & 1 for info in members):
            raise SourceUnreadable(f"{str(path)!r} is encrypted; unpack it and import the folder")
    return [Source(info.filename, info.file_size, _member(path, info)) for info in members]


def _member(path: Path, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        with zipfile.ZipFile(path) as archive:  # a member holds the archive open until it is closed itself
            return cast(BinaryIO, archive.open(info))

    return opened


def _chosen(where: str, found: list[Source]) -> list[Source]:
    found = [source for source in found if not source.name.startswith("__MACOSX/")]
    if not found:
        raise SourceUnreadable(f"{where!r} holds no JSON file; point to the export's file, zip or folder")
    named = [source for source in found if _CONVERSATIONS.search(source.name)]
    return sorted(named or found, key=lambda source: _natural(source.name))


def _natural(name: str) -> list[tuple[int, int, str]]:
    """A sort key in which the numbers of a name count as numbers."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"([0-9]+)", name)]
