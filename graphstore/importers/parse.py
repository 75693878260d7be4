"""From the bytes of one record to a value, exactly: the text of every number and every odd character is kept.

orjson is fast and right for nearly every record. It silently rounds integers over 64 bits and forgets how an odd
number was written, so a record with such a number goes to the exact parser instead.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from graphstore import jsontext
from graphstore.importers.split import UNPARSED

# A number as member or element whose text orjson would not give back: too long, an exponent, a trailing zero, -0.
# Three expressions, each with a fixed first byte, are several times faster than one with a choice of three.
_NUMBER = rb"\s*+-?(?:[\d.]{19}|[\d.]++[eE]|\d++\.\d++(?<=\d0)[\s,\]}]|0[,\s\]}](?<=-0.))"
_CONTAINER = (b"{", b"[")
_ODD_NUMBERS = tuple(re.compile(first + _NUMBER) for first in (rb":", rb",", rb"\["))


def parse(text: bytes, known: Any = UNPARSED) -> Any:
    """The value of one record; ``known`` is what orjson makes of it, if that was found before.

    Emoji written as two three-byte surrogates (CESU-8) become the emoji; lone surrogates stay. Bytes that are
    no UTF-8 at all become U+FFFD. Raises ``InvalidInput`` when it is not JSON.
    """
    if text[:1] in _CONTAINER and not any(odd.search(text) for odd in _ODD_NUMBERS):
        if known is not UNPARSED:
            return known
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass  # hostile text: the exact parser decides
    return jsontext.loads_exact(_decoded(text))


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        pass  # not plain UTF-8: surrogates written as bytes, or damage
    try:
        decoded = text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace")
    return decoded.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
