"""Trees too large to grow turn by turn: imported in batches, as an export of another program would be."""

from __future__ import annotations

import random
from collections.abc import Iterator

from graphstore import GraphStore
from graphstore.importers import ImportedCall, ImportedConversation
from graphstore.importers.records import Report
from graphstore.store.imported_rows import conversation_id_of, node_id_of

SOURCE = "of a test"


def call(key: str, parent_key: str | None, question: str | None = None) -> ImportedCall:
    """One turn of one call."""
    return ImportedCall(
        key=key,
        parent_key=parent_key,
        turn_key=key,
        round=0,
        sent=[{"type": "message", "role": "user", "content": question or f"Question {key}"}],
        returned=[{"type": "message", "role": "assistant", "content": f"Answer {key}"}],
    )


def conversation(name: str, calls: list[ImportedCall], cursor_key: str) -> ImportedConversation:
    """Calls, parents first, as one conversation."""
    return ImportedConversation(
        source=SOURCE, source_id=name, title=name, calls=calls, cursor_key=cursor_key, report=Report(name)
    )


def planted(store: GraphStore, tree: ImportedConversation) -> str:
    """Import one conversation; returns its id."""
    (outcome,) = store.import_conversations([tree])
    assert outcome.nodes_added == len(tree.calls)
    assert outcome.conversation_id == id_of(tree.source_id)
    return outcome.conversation_id


def id_of(name: str) -> str:
    """The id of the conversation called so."""
    return conversation_id_of(SOURCE, name)


def node_of(name: str, key: str) -> str:
    """The id of a call of the conversation called ``name``."""
    return node_id_of(id_of(name), key)


def chain(length: int) -> Iterator[ImportedCall]:
    """One turn after another."""
    for number in range(length):
        yield call(f"{number}", f"{number - 1}" if number else None)


def fan(width: int) -> Iterator[ImportedCall]:
    """One turn with ``width`` versions of the next, of three different questions."""
    yield call("top", None)
    for number in range(width):
        yield call(f"{number}", "top", f"Version {number % 3}")


def bushy(nodes: int, branch_points: int, depth: int) -> tuple[list[ImportedCall], list[str]]:
    """A tree of so many calls, so many of which have several children, and the keys of its one path of ``depth`` calls
    on which the cursor is. Most branch points are on long side lines, as where agents ran on by themselves.
    """
    chance = random.Random(275)
    children: dict[str | None, int] = {None: 1}
    calls: list[ImportedCall] = []

    def grow(parent: str | None, length: int) -> list[str]:
        keys = []
        for _ in range(length):
            key = f"{len(calls)}"
            calls.append(call(key, parent))
            if parent is not None:
                children[parent] = children.get(parent, 0) + 1
            children[key] = 0
            keys.append(key)
            parent = key
        return keys

    path = grow(None, depth)
    for branch in range(branch_points):
        on_path = branch % 5 == 0
        single = [key for key in children if key is not None and children[key] == 1 and (key in path) == on_path]
        left = nodes - len(calls) - (branch_points - branch)
        grow(chance.choice(single or path), 1 + min(left, chance.randrange(1 + 2 * left // (branch_points - branch))))
    leaf = max((key for key in children if key is not None and children[key] == 0 and key not in path), key=int)
    grow(leaf, nodes - len(calls))
    return calls, path
