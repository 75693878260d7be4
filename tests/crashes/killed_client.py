"""A program that writes until it is killed, and notes in a file what it is about to write and what was acknowledged.

Each kind of work is a loop; ``begin`` is noted before a write that takes several steps, ``done`` once it was answered.
The note is in the file before the next write begins, so what it says is what a user has been told.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from graphstore import GraphStore, database
from graphstore.importers import ImportedCall, ImportedConversation
from graphstore.importers.records import Report
from graphstore.store import importing, removal

LEASE = 2.0
"""Seconds; once a client is dead its conversations are free after so long."""

LENGTH = 8
"""Turns of a conversation that is taken away, calls of one that is imported."""

Note = Callable[..., None]


def turns(store: GraphStore, note: Note) -> None:
    """Turns of two calls with a tool between them, one after the other."""
    id = store.create_conversation()
    note("begin", conversation=id)
    number = 0
    while True:
        number += 1
        with store.turn(id, lease_seconds=LEASE) as turn:
            first = turn.call(f"Q{number}")
            first.succeed([{"type": "tool_call", "call_id": f"c{number}", "name": "f", "arguments": "{}"}])
            note("done", conversation=id, node=first.id)
            second = turn.call([{"type": "tool_result", "call_id": f"c{number}", "output": f"paid {number}"}])
            note("sent", conversation=id, node=second.id, output=f"paid {number}")
            second.succeed(f"A{number}")
            note("done", conversation=id, node=second.id)


def edits(store: GraphStore, note: Note) -> None:
    """Versions of one question, and answers to them."""
    id = store.create_conversation()
    note("begin", conversation=id)
    with store.turn(id, lease_seconds=LEASE) as turn:
        turn.call("Q0").succeed("A")
    number = 0
    while True:
        number += 1
        if number % 2:
            turn = store.edit(id, turn.current.id, f"Q{number}", lease_seconds=LEASE)
        else:
            turn = store.regenerate(id, lease_seconds=LEASE)
        with turn:
            turn.current.succeed(f"A{number}")
        note("done", conversation=id, node=turn.current.id)


def compactions(store: GraphStore, note: Note) -> None:
    """A turn, a summary of all so far, a turn…"""
    id = store.create_conversation()
    note("begin", conversation=id)
    while True:
        with store.turn(id, lease_seconds=LEASE) as turn:
            turn.call("Q").succeed("A")
        note("done", conversation=id, node=turn.current.id)
        note("done", conversation=id, node=store.compact(id, f"All up to {turn.current.id}"))


def _filled(store: GraphStore) -> tuple[str, list[str]]:
    id, nodes = store.create_conversation(), []
    for number in range(LENGTH // 2):
        with store.turn(id) as turn:
            turn.call(f"Q{number}").succeed(f"A{number}")
        nodes.append(turn.current.id)
    return id, nodes


def deletions(store: GraphStore, note: Note) -> None:
    """Conversations made, forked in the middle, deleted."""
    while True:
        id, nodes = _filled(store)
        fork = store.fork(nodes[LENGTH // 4])
        note("begin", conversation=id, fork=fork)
        store.delete_conversation(id)
        note("done", conversation=id, fork=fork)


def clears(store: GraphStore, note: Note) -> None:
    """Conversations made and emptied."""
    while True:
        id, _ = _filled(store)
        note("begin", conversation=id)
        store.clear(id)
        note("done", conversation=id)


def purges(store: GraphStore, note: Note) -> None:
    """Branches hidden and removed for good."""
    while True:
        id, nodes = _filled(store)
        with store.edit(id, nodes[1], "otherwise") as turn:
            turn.current.succeed("A")
        store.tombstone(nodes[1])
        note("begin", conversation=id, node=nodes[1], kept=[nodes[0], turn.current.id])
        store.purge(nodes[1])
        note("done", conversation=id, node=nodes[1], kept=[nodes[0], turn.current.id])


def source(name: str) -> Iterator[ImportedConversation]:
    """An export without an end: conversation after conversation."""
    number = 0
    while True:
        number += 1
        yield exported(f"{name} {number}")


def exported(name: str) -> ImportedConversation:
    """One conversation of it: a line with a branch at each call."""
    calls = []
    for place in range(LENGTH):
        calls.append(
            ImportedCall(
                key=f"{place}",
                parent_key=None if place == 0 else f"{(place - 1) // 2}",
                turn_key=f"{place}",
                round=0,
                sent=[{"type": "message", "role": "user", "content": f"Q{place} of {name}"}],
                returned=[{"type": "message", "role": "assistant", "content": f"A{place}"}],
            )
        )
    return ImportedConversation(
        source="killed", source_id=name, title=name, calls=calls, cursor_key=f"{LENGTH - 1}", report=Report(name)
    )


def imports(store: GraphStore, note: Note) -> None:
    """A long export; several batches for each conversation."""
    for outcome in store.import_conversations(source(store.workspace)):
        note("done", conversation=outcome.conversation_id, name=outcome.source_id)


WORK: dict[str, Callable[[GraphStore, Note], None]] = {
    work.__name__: work for work in (turns, edits, compactions, deletions, clears, purges, imports)
}


def main() -> None:
    uri, user, workspace, kind, log = sys.argv[1:]
    removal.BATCH = 2
    importing.BATCH_NODES = 5
    database.RETRY_SECONDS = 300.0  # a server that was killed comes back late on a busy machine
    with (
        Path(log).open("a", encoding="utf-8") as file,
        GraphStore.connect(uri, auth=(user, sys.stdin.readline().strip()), workspace=workspace) as store,
    ):

        def note(what: str, **about: Any) -> None:
            file.write(json.dumps({"what": what, **about}) + "\n")
            file.flush()

        WORK[kind](store, note)


if __name__ == "__main__":
    main()
