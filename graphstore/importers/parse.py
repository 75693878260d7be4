"""From the bytes of one record to a value, exactly: the text of every number and every odd character is kept.

orjson is fast and right for nearly every record. It silently rounds integers over 64 bits and forgets how an odd
number was written, so a record with such a number goes to the exact parser instead.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from graphstore import jsontext

# A number as a member or element whose text orjson would not give back: too long, an exponent, a trailing zero.
_ODD_NUMBER = re.compile(rb"[:,\[]\s*+-?(?:[\d.]{19}|[\d.]++[eE]|\d++\.\d++(?<=\d0)[\s,\]}]|0[,\s\]}](?<=-0.))")


def parse(text: bytes) -> Any:
    """The value of one record.

    Emoji written as two three-byte surrogates (CESU-8) become the emoji; lone surrogates stay. Bytes that are
    no UTF-8 at all become U+FFFD. Raises ``InvalidInput`` when it is not JSON.
    """
    if _ODD_NUMBER.search(text) is None:
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
