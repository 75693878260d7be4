"""Heavy strings stored apart, once each, and put back on reading so that every byte is as it was (rule S7).

In stored JSON text a heavy string gives way to a reference: a literal of its own form, ``"\\/blob\\/t\\/<hash>"``.
It is valid JSON, and as no encoder here escapes a slash, only text that came from outside can hold its like. That
look-alike is stored apart itself, whatever its size, so a reference in stored text is always one of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import orjson

from graphstore.errors import InvalidInput, PayloadMissing
from graphstore.fingerprint import sha256

DEFAULT_LIMIT = 4096
"""Strings of more bytes of JSON than this are stored apart."""

SMALLEST_LIMIT = 256
"""A lower limit would make references out of strings hardly longer than they are."""

PLAIN_TEXT = "text/plain"
"""The media type of a payload that is the string itself."""

_OPENING = '"\\/blob\\/'
# A quote after a backslash is inside a string; one before a backslash begins one.
_REFERENCE = re.compile(r'(?<!\\)"\\/blob\\/([tj])\\/([0-9a-f]{64})"')
_LITERAL = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_COLON = re.compile(r"\s*:")


@dataclass(frozen=True)
class Payload:
    """A string stored apart. ``data`` is the string itself, or its JSON where the database can't hold it as it is."""

    sha256: str
    data: str
    media_type: str


def check_limit(limit: int) -> int:
    """The limit, if it can be one; raises ``InvalidInput``."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < SMALLEST_LIMIT:
        raise InvalidInput(f"blob_bytes is a number of bytes of at least {SMALLEST_LIMIT}, not {limit!r}")
    return limit


def split(text: str, limit: int) -> tuple[str, dict[str, Payload]]:
    """JSON text with each string of more than ``limit`` bytes as a reference, and what they refer to, by hash."""
    alike = _OPENING in text
    if not alike and (len(text) <= limit // 4 or _bytes(text) <= limit):
        return text, {}
    payloads: dict[str, Payload] = {}
    parts: list[str] = []
    done = 0
    for literal in _LITERAL.finditer(text):
        start, end = literal.span()
        heavy = end - start > limit // 4 and _bytes(literal[0]) > limit and not _COLON.match(text, end)
        if not heavy and not (alike and _REFERENCE.fullmatch(literal[0])):
            continue
        payload, form = _payload(literal[0])
        payloads[payload.sha256] = payload
        parts += text[done:start], f'"\\/blob\\/{form}\\/{payload.sha256}"'
        done = end
    return "".join([*parts, text[done:]]), payloads


def hashes_in(texts: Iterable[str | None]) -> list[str]:
    """The hashes that stored texts refer to, each once, in order."""
    return sorted({found[2] for text in texts if text and _OPENING in text for found in _REFERENCE.finditer(text)})


class Payloads:
    """What references stand for; puts it back. ``data`` is by hash, as stored."""

    def __init__(self, data: Mapping[str, str]) -> None:
        self._data = data
        self._literals: dict[tuple[str, str], str] = {}

    def restored(self, text: str) -> str:
        """Stored JSON text as it was written. Raises ``PayloadMissing``."""
        if _OPENING not in text:
            return text
        return _REFERENCE.sub(self._literal, text)

    def _literal(self, reference: re.Match[str]) -> str:
        form, digest = reference[1], reference[2]
        literal = self._literals.get((form, digest))
        if literal is None:
            if digest not in self._data:
                raise PayloadMissing(digest)
            data = self._data[digest]
            literal = orjson.dumps(data).decode() if form == "t" else data
            self._literals[form, digest] = literal
        return literal


NOTHING_APART = Payloads({})
"""For text that refers to nothing."""


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _payload(literal: str) -> tuple[Payload, str]:
    """The payload of a string literal and the form of its reference: as text where that gives the same JSON again."""
    try:
        value = orjson.loads(literal)
    except orjson.JSONDecodeError:  # lone surrogates
        value = None
    if isinstance(value, str) and "\x00" not in value and orjson.dumps(value).decode() == literal:
        return Payload(sha256(value), value, PLAIN_TEXT), "t"
    return Payload(sha256(literal), literal, "application/json"), "j"
