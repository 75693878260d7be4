"""Text from a conversation made harmless for a terminal: it can't move the cursor, change colours, or break a line.

Titles, questions and answers come from outside. Whatever would act on a terminal (escape sequences, control
characters, marks that turn the writing direction) is shown as its code instead of being sent. Numbers with their noun,
too, are worded here.
"""

from __future__ import annotations

import unicodedata

_ACTS = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"
"""Needed to spell some scripts and to join emoji; they act on nothing else."""


def one_line(text: str) -> str:
    """``text`` on one line: runs of white space become a space, what would act becomes its visible code."""
    return "".join(_shown(c) for c in " ".join(text.split()))


def counted(count: int, word: str, plural: str | None = None) -> str:
    """A number and its noun: ``1 node``, ``2,000 nodes``."""
    return f"{count:,} {word if count == 1 else plural or word + 's'}"


def _shown(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    if unicodedata.category(character) not in _ACTS or character in _JOINERS:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
