"""Cut a stream of bytes into the records of an export, one at a time, in memory of one record.

A record is an element of a top-level array (or of the ``conversations`` array of a wrapping object), a line of
JSON Lines, or the one object of the file. Records are cut as bytes and parsed later, each by itself, so that one
bad record costs only itself. Brackets are found by one regular expression that skips whole strings at C speed; a
string or a value may cross any number of chunks without being looked at twice.

Most elements are not scanned at all. The bytes between two elements, up to the first key of the second, usually
look the same throughout a file: where they occur next, the element ends if what lies before is whole JSON (no
proper beginning of an object is), and the value is known with it. Only where that fails is the element scanned.

A line is always a record of its own in JSON Lines. In an array the end of a broken element can't be known, so a
syntax error that hides a bracket takes what follows it into the same damaged record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import orjson

CHUNK = 1 << 20
LONGEST_RECORD = 1 << 28
"""Bytes of one record at most. Only a file made to fill the memory (a few bytes that unpack to many) has more."""

UNPARSED: Any = object()
"""The value of a record that was only cut, not parsed."""

_GUESSES = 3  # places looked at before an element is scanned instead
_GUESS_REACH = 8 * CHUNK  # bytes looked through for them
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"

# Everything up to the next bracket, whole strings included; stops at a string that this buffer doesn't end.
_TO_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:"(?:[^"\\]++|\\.)*+"[^"\[\]{}]*+)*+', re.S)
# The same between two elements, where a comma ends a bare value.
_TO_COMMA = re.compile(rb'[^"\[\]{},]*+(?:"(?:[^"\\]++|\\.)*+"[^"\[\]{},]*+)*+', re.S)
_STRING_BODY = re.compile(rb'(?:[^"\\]++|\\.)*+', re.S)

_SEAM_AFTER = re.compile(rb'\s*,\s*\{\s*"[^"\\]{1,64}"')
_WRAPPER = re.compile(rb'"conversations"\s*:\s*\[')
# What tells the turns of one row from conversations: a turn's key, or none at all (other rows may follow).
_ROWS_OWN = re.compile(rb'\s*(?:\]|\{\s*"(?:from|value|role|content|loss|weight)")')


@dataclass(slots=True)
class Record:
    """The bytes of one record, its number in the file (from 0), and what is wrong with it if that is known.

    ``value`` is what orjson makes of the bytes, where cutting the record needed to know.
    """

    text: bytes
    number: int
    damage: str | None = None
    value: Any = UNPARSED


class _Window:
    """The part of the stream that is being looked at; ``start`` is where the current record begins in it."""

    def __init__(self, stream: BinaryIO, head: bytes) -> None:
        self._stream = stream
        self.buffer = bytearray(head)
        self.start = 0
        self.position = 0
        self.failure: str | None = None

    def more(self) -> bool:
        """Drop what lies before ``start`` and read a chunk; false at the end of the stream."""
        if self.start:
            del self.buffer[: self.start]
            self.position -= self.start
            self.start = 0
        if len(self.buffer) > LONGEST_RECORD:
            self.failure = f"a record has more than {LONGEST_RECORD:,} bytes"
            return False
        try:
            chunk = self._stream.read(CHUNK)
        except (EOFError, OSError, ValueError) as error:  # zlib's and zipfile's errors about a damaged stream
            self.failure = str(error)
            return False
        self.buffer += chunk
        return bool(chunk)

    def cut(self, end: int) -> bytes:
        """The bytes of the record that ends before ``end``."""
        with memoryview(self.buffer) as view:
            return bytes(view[self.start : end]).strip(_SPACE)


def records(stream: BinaryIO) -> Iterator[Record]:
    """Every record of ``stream`` (bytes of JSON or JSON Lines, a byte order mark allowed).

    A damaged or truncated stream gives the whole records before the damage, then one record with ``damage`` set.
    """
    window = _Window(stream, b"")
    while len(window.buffer) < CHUNK and window.more():
        pass
    if window.buffer.startswith(_BOM):
        window.start = window.position = len(_BOM)
    first = _first_byte(window)
    if first == b"[":
        window.position += 1
        yield from _elements(window)
        return
    if first == b"{":
        wrapped = _wrapped_array(window)
        if wrapped is not None:
            window.position = wrapped
            yield from _elements(window)
            return
        if not _looks_like_lines(window):
            yield from _whole(window)
            return
    yield from _lines(window)


def _first_byte(window: _Window) -> bytes:
    while True:
        rest = bytes(window.buffer[window.position : window.position + 4096])
        stripped = rest.lstrip(_SPACE)
        window.position += len(rest) - len(stripped)
        if stripped:
            return stripped[:1]
        window.start = window.position
        if window.position >= len(window.buffer) and not window.more():
            return b""


def _wrapped_array(window: _Window) -> int | None:
    """Where the elements of ``{…, "conversations": [`` begin, if this is such an object and not a ShareGPT row."""
    depth = 0
    position = window.position
    buffer = window.buffer
    while position < len(buffer):
        found = _WRAPPER.search(buffer, position)
        if found is None:
            return None
        match = _TO_BRACKET.match(buffer, position)
        end = match.end() if match else position
        if end >= len(buffer):
            return None
        if depth == 1 and buffer[end] == 0x5B and found.end() == end + 1:
            return None if _ROWS_OWN.match(buffer, end + 1) else end + 1
        if buffer[end] in b"[{":
            depth += 1
        elif buffer[end] in b"]}":
            depth -= 1
            if depth == 0:
                return None
        else:
            return None
        position = end + 1
    return None


def _looks_like_lines(window: _Window) -> bool:
    """Whether the first line begins and ends like an object, or the second begins with one at its first column."""
    buffer = window.buffer
    searched = window.position
    while (newline := buffer.find(b"\n", searched)) < 0:
        searched = len(buffer)
        if not window.more():
            return False
    line = bytes(buffer[newline - 64 if newline > 64 else 0 : newline]).rstrip(_SPACE)
    if newline - window.position > 1 and line.endswith(b"}"):
        return True
    return bytes(buffer[newline + 1 : newline + 2]) == b"{" and line != b"{"


def _whole(window: _Window) -> Iterator[Record]:
    while window.more():
        pass
    yield Record(window.cut(len(window.buffer)), 0, window.failure)


def _lines(window: _Window) -> Iterator[Record]:
    number = 0
    while True:
        newline = window.buffer.find(b"\n", window.position)
        if newline < 0:
            window.position = len(window.buffer)
            if window.more():
                continue
            text = window.cut(len(window.buffer))
            if text or window.failure:
                yield Record(text, number, window.failure)
            return
        text = window.cut(newline)
        window.start = window.position = newline + 1
        if text:
            yield Record(text, number)
            number += 1


def _elements(window: _Window) -> Iterator[Record]:
    """The elements of the array whose first element begins at ``position``."""
    window.start = window.position
    number = 0
    seam: bytes | None = None
    while True:
        guessed = _guess(window, seam) if seam is not None else None
        if guessed is not None:
            guessed.number = number
            number += 1
            yield guessed
            continue
        stop = _scan(window)
        text = window.cut(window.position - 1 if stop else len(window.buffer))
        ended_at = window.position - 1
        if not stop:
            yield Record(text, number, window.failure or "the file ends before its array does")
            return
        seam = _seam(window, ended_at) if text else seam
        window.start = window.position
        if text:
            yield Record(text, number)
            number += 1
        if stop != b",":
            return


def _seam(window: _Window, comma: int) -> bytes | None:
    """The bytes from the end of one object over the comma to the first key of the next."""
    before = window.buffer[window.start : comma]
    match = _SEAM_AFTER.match(window.buffer, comma)
    if match is None or not before.rstrip(_SPACE).endswith(b"}"):
        return None
    return bytes(before[len(before.rstrip(_SPACE)) - 1 :]) + match.group()


def _guess(window: _Window, seam: bytes) -> Record | None:
    """The element that begins at ``start``, if it ends at one of the next seams; moves on behind the comma."""
    searched = window.start
    for _ in range(_GUESSES):
        while (found := window.buffer.find(seam, searched)) < 0:
            gone = window.start
            searched = max(window.start, len(window.buffer) - len(seam)) - gone
            if len(window.buffer) - gone > _GUESS_REACH or not window.more():
                return None
        text = window.cut(found + 1)
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            searched = found + 1
            continue
        window.start = window.position = found + seam.index(b",") + 1
        return Record(text, 0, value=value)
    return None


def _scan(window: _Window) -> bytes:
    """Move behind the comma or bracket that ends the element at ``start``; which it was (none: no end found)."""
    buffer = window.buffer
    depth = 1
    in_string = False
    window.position = window.start
    while True:
        if in_string:
            match = _STRING_BODY.match(buffer, window.position)
            window.position = match.end() if match else window.position
            if window.position >= len(buffer) or buffer[window.position] == 0x5C:
                if not window.more():
                    return b""
                continue
            window.position += 1
            in_string = False
        match = (_TO_BRACKET if depth > 1 else _TO_COMMA).match(buffer, window.position)
        end = window.position = match.end() if match else window.position
        if end >= len(buffer):
            if not window.more():
                return b""
            continue
        byte = buffer[end]
        window.position += 1
        if byte == 0x22:
            in_string = True
        elif byte in b"[{":
            depth += 1
        elif byte == 0x2C or depth == 1:
            return bytes((byte,))
        else:
            depth -= 1
