"""The same conversations for both databases, from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

from graphstore.fingerprint import new_id
from graphstore.jsontext import dumps

SEED = 20260801


@dataclass(frozen=True)
class Call:
    """One call of a conversation in a line; ``sent`` and ``returned`` are the JSON text of one message each."""

    id: str
    parent_id: str | None
    sent: str
    returned: str


@dataclass(frozen=True)
class Line:
    """A conversation without branches, root first."""

    conversation_id: str
    calls: list[Call]

    @property
    def leaf(self) -> Call:
        return self.calls[-1]


class Prose:
    """Text that looks like text: words of a vocabulary, in sentences and lines."""

    def __init__(self, seed: int = SEED) -> None:
        self._random = random.Random(seed)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._words = ["".join(self._random.choices(letters, k=self._random.randint(2, 10))) for _ in range(3000)]

    def characters(self, count: int) -> str:
        """Exactly ``count`` characters."""
        words: list[str] = []
        length = 0
        while length < count:
            word = self._random.choice(self._words)
            words.append(word)
            length += len(word) + 1
        return " ".join(words)[:count].replace(" a", "\n", count // 400)[:count].ljust(count, ".")


def message(role: str, text: str) -> dict[str, str]:
    """One neutral item."""
    return {"type": "message", "role": role, "content": text}


def line(depth: int, size: int, seed: int = SEED) -> Line:
    """A conversation of ``depth`` calls, each of ``size`` bytes of JSON in two halves."""
    prose = Prose(seed)
    calls: list[Call] = []
    parent_id: str | None = None
    for _ in range(depth):
        sent, returned = (_sized(role, prose, size // 2) for role in ("user", "assistant"))
        calls.append(Call(new_id(), parent_id, sent, returned))
        parent_id = calls[-1].id
    return Line(new_id(), calls)


def _sized(role: str, prose: Prose, size: int) -> str:
    empty = len(dumps([message(role, "")]))
    text = prose.characters(max(size - empty, 1))
    over = len(dumps([message(role, text)])) - size
    return dumps([message(role, text[:-over] if 0 < over < len(text) else text)])
