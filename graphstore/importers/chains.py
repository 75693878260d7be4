"""Messages without ids, in a line: a message's key is a hash of everything from the beginning to it.

So a longer version of a line keeps the keys of the shorter one, and lines with one beginning share the keys of that
beginning: under one conversation they become the branches of a tree.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from graphstore import fingerprint


def chain_key(above: str | None, said: Any) -> str:
    """The key of a message that says ``said``, behind the message with the key ``above``."""
    return fingerprint.sha256(f"{above or ''} {fingerprint.content_hash(said)}")[:32]


def chained(rows: list[Any], above: str | None = None) -> list[tuple[str, str | None, Any]]:
    """Each of ``rows`` with its key and the key of the one before it."""
    keyed = []
    for row in rows:
        key = chain_key(above, row)
        keyed.append((key, above, row))
        above = key
    return keyed


class Beginnings:
    """Ids for the conversations of a file that gives them none: a hash of how they begin, and a number.

    The number tells apart those that begin alike. Importing the file again, or with conversations that grew or were
    appended, finds the same ids.
    """

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def source_id(self, beginning: Any) -> str:
        """The id of the next conversation that begins so."""
        hashed = fingerprint.content_hash(beginning)[:32]
        self._seen[hashed] += 1
        return f"{hashed}-{self._seen[hashed]}"


def beginning(said: list[Any], roles: list[Any]) -> list[Any]:
    """What is said up to the first question, or before the first answer if that comes earlier."""
    for at, role in enumerate(roles):
        if role == "user":
            return said[: at + 1]
        if role == "assistant":
            return said[: max(at, 1)]
    return said[:1]
