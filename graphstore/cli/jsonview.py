"""JSON text for a person's eyes: indented, every number as it was written, nothing in it that acts on a terminal."""

from __future__ import annotations

import re
import unicodedata

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_INDENT = "  "


def indented(text: str) -> str:
    """The same JSON document over several lines."""
    out: list[str] = []
    depth = 0
    opened = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            depth -= 1
            out.append(token if opened else "\n" + _INDENT * depth + token)
            opened = False
            continue
        if opened:
            out.append("\n" + _INDENT * depth)
        opened = token in "{["
        if opened:
            depth += 1
            out.append(token)
        elif token == ",":
            out.append(",\n" + _INDENT * depth)
        elif token == ":":
            out.append(": ")
        else:
            out.append(token)
    return harmless("".join(out))


def harmless(text: str) -> str:
    """JSON text with control and format characters escaped; it stays the same JSON."""
    if text.isascii():
        return text
    return "".join(_escaped(c) if unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c != "\n" else c for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
