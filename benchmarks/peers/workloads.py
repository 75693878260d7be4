"""What every store is given: three seeded conversations, made of calls of a model.

W1 is 200 turns with a tool call each, every tenth regenerated five times on one and the same long result. W2 is 1,000
turns in a line. W3 is a tree as large as the largest one reported in public.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.data import SEED, Prose

REGENERATIONS = 5
EVERY = 10  # turns; every so-manieth is regenerated
LONG_RESULT = 40_000


@dataclass(frozen=True)
class Message:
    """One message. ``role`` is ``user``, ``assistant``, ``tool_call`` (``text`` is the query) or ``tool_result``."""

    role: str
    text: str
    call_id: str = ""


@dataclass(frozen=True)
class Call:
    """One call of a model: what is new in its request, and what came back; ``last`` of its turn."""

    sent: tuple[Message, ...]
    returned: Message
    first: bool = True
    last: bool = True

    @property
    def messages(self) -> tuple[Message, ...]:
        return (*self.sent, self.returned)


@dataclass(frozen=True)
class Tree:
    """``nodes[i]`` is the parent's index (``None``: the root) and the call; ``lines`` are runs of nodes, each of which
    hangs below a node of an earlier one. The first is the active path.
    """

    nodes: list[tuple[int | None, Call]]
    lines: list[list[int]]

    @property
    def branch_point(self) -> int:
        """A node of the active path that has two children."""
        active = set(self.lines[0])
        parents = [self.nodes[line[0]][0] for line in self.lines[1:]]
        return next(parent for parent in parents if parent in active and parent is not None)


def texts(calls: Sequence[Call]) -> list[str]:
    """The texts of a path's messages, in order."""
    return [message.text for call in calls for message in call.messages]


def turns(count: int) -> list[list[list[Call]]]:
    """W1: for each turn its attempts, for each attempt its two calls."""
    prose = Prose(SEED + 1)
    long = prose.characters(LONG_RESULT)
    made: list[list[list[Call]]] = []
    for number in range(1, count + 1):
        question = Message("user", prose.characters(300))
        regenerated = number % EVERY == 0
        attempts = []
        for attempt in range(1 + REGENERATIONS * regenerated):
            name = f"call-{number}-{attempt}"
            query = Message("tool_call", prose.characters(60), name)
            result = Message("tool_result", long if regenerated else prose.characters(4000), name)
            answer = Message("assistant", prose.characters(1000))
            attempts.append([Call((question,), query, last=False), Call((result,), answer, first=False)])
        made.append(attempts)
    return made


def line(count: int, seed: int = 2) -> list[Call]:
    """W2: questions and answers of 1,000 characters each."""
    prose = Prose(SEED + seed)
    return [_asked(prose, 1000, 1000) for _ in range(count)]


def tree(nodes: int, branch_points: int, path: int) -> Tree:
    """W3: ``branch_points`` nodes with two children each; the first ``path`` nodes are the active path.

    Half of the branches begin at its first nodes, so most stay shallow.
    """
    prose, chance = Prose(SEED + 3), random.Random(SEED + 4)
    made = Tree([], [])
    children: list[int] = []

    def grow(parent: int | None, length: int) -> None:
        grown = []
        for _ in range(length):
            made.nodes.append((parent, _asked(prose, 300, 700)))
            children.append(0)
            if parent is not None:
                children[parent] += 1
            parent = len(made.nodes) - 1
            grown.append(parent)
        made.lines.append(grown)

    grow(None, path)
    left = nodes - path
    for branch in range(branch_points):
        after = branch_points - branch - 1
        even = left / (after + 1)
        length = left if after == 0 else max(2, min(left - 2 * after, round(chance.uniform(0.4, 1.6) * even)))
        among = range(path - 1) if branch % 2 == 0 else range(len(made.nodes))
        # A node with one child becomes one with two; the shallow ones run out, then any will do.
        single = [node for node in among if children[node] == 1] or [n for n, many in enumerate(children) if many == 1]
        grow(chance.choice(single), length)
        left -= length
    return made


def _asked(prose: Prose, question: int, answer: int) -> Call:
    return Call((Message("user", prose.characters(question)),), Message("assistant", prose.characters(answer)))
