"""A write that the server has done and whose answer never comes: the store repeats it, and it takes effect once.

The answer is lost at every position of every verb, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cutting_proxy import CuttingProxy
from racing import ask, cursors

from graphstore import GraphStore
from graphstore.local import Endpoint


@pytest.fixture(scope="module")
def proxy(server: Endpoint) -> Iterator[CuttingProxy]:
    with CuttingProxy(server.uri) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def behind_proxy(proxy: CuttingProxy, server: Endpoint) -> Iterator[GraphStore]:
    auth = (server.username, server.password)
    with GraphStore.connect(proxy.uri, auth=auth, workspace="lost-answers") as store:
        yield store


class Thread:
    """A conversation of two turns and another branch, for one verb to be tried on."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store
        self.id = store.create_conversation(title="Thread")
        self.first = ask(store, self.id, "Q1", "A1").id
        self.other = ask(store, self.id, "Q2", "A2").id
        with store.edit(self.id, self.other, "Q2 again") as turn:
            turn.current.succeed("A2 again")
            self.last = turn.current.id
        self.turn = store.turn(self.id)


def create(thread: Thread) -> None:
    thread.store.create_conversation(title="Another")


def append(thread: Thread) -> None:
    thread.turn.call("Q3", system="Be brief.", tools=[{"name": "look"}])


def settle(thread: Thread) -> None:
    thread.turn.current.succeed("A3")


def settle_and_end(thread: Thread) -> None:
    thread.turn.current.succeed("A3", end_turn=True)


def fail(thread: Thread) -> None:
    thread.turn.current.fail("timeout", "no answer")


def end(thread: Thread) -> None:
    thread.turn.end()


def edit(thread: Thread) -> None:
    thread.turn = thread.store.edit(thread.id, thread.first, "Q1 otherwise")


def regenerate(thread: Thread) -> None:
    thread.turn = thread.store.regenerate(thread.id)


def switch(thread: Thread) -> None:
    thread.store.switch(thread.id, thread.other)


def fork(thread: Thread) -> None:
    thread.store.fork(thread.first, title="Fork")


def compact(thread: Thread) -> None:
    thread.store.compact(thread.id, "In short.")


def compact_within(thread: Thread) -> None:
    thread.turn.compact("In short.")


def correct(thread: Thread) -> None:
    thread.store.correct(thread.id, "The right answer")


def begun(thread: Thread) -> None:
    append(thread)


def answered(thread: Thread) -> None:
    append(thread)
    settle(thread)


def nothing(thread: Thread) -> None:
    pass


# The verb, what comes before it, and its one effect: nodes, moves and conversations more than before.
VERBS: list[tuple[Callable[[Thread], None], Callable[[Thread], None], tuple[int, int, int]]] = [
    (create, nothing, (0, 0, 1)),
    (append, nothing, (1, 0, 0)),
    (settle, begun, (0, 0, 0)),
    (settle_and_end, begun, (0, 1, 0)),
    (fail, begun, (0, 1, 0)),
    (end, answered, (0, 1, 0)),
    (edit, nothing, (1, 1, 0)),
    (regenerate, nothing, (1, 1, 0)),
    (switch, nothing, (0, 1, 0)),
    (fork, nothing, (0, 0, 1)),
    (compact, nothing, (1, 1, 0)),
    (compact_within, answered, (1, 0, 0)),
    (correct, nothing, (1, 1, 0)),
]


def counted(thread: Thread) -> tuple[int, int, int]:
    return (
        len(thread.store.tree(thread.id)),
        len(thread.store.moves(thread.id)),
        len(list(thread.store.conversations())),
    )


def shape(thread: Thread) -> Any:
    """What the conversation looks like, ids and times left out."""
    places = {node.id: number for number, node in enumerate(thread.store.tree(thread.id))}
    nodes = [
        (places.get(node.parent_id or ""), node.kind, node.status, node.sent, node.returned, node.round)
        for node in thread.store.tree(thread.id)
    ]
    moves = [
        (move.seq, places.get(move.from_id or ""), places.get(move.to_id or ""), move.reason, move.accepted)
        for move in thread.store.moves(thread.id)
    ]
    conversation = thread.store.conversation(thread.id)
    running = conversation.turn is not None
    unseen = len(thread.store.unseen_branches(thread.id))
    return nodes, moves, places.get(conversation.cursor or ""), conversation.version, running, unseen


@pytest.mark.rule("S5", "C2", "C4")
@pytest.mark.parametrize(("verb", "before", "effect"), VERBS, ids=[verb.__name__ for verb, _, _ in VERBS])
def test_a_verb_whose_answer_is_lost_takes_effect_once(
    store: GraphStore,
    proxy: CuttingProxy,
    behind_proxy: GraphStore,
    verb: Callable[[Thread], None],
    before: Callable[[Thread], None],
    effect: tuple[int, int, int],
) -> None:
    undisturbed = Thread(behind_proxy.in_workspace(store.workspace))
    before(undisturbed)
    verb(undisturbed)
    wanted = shape(undisturbed)
    position = 0
    while True:
        thread = Thread(behind_proxy.in_workspace(store.workspace))
        before(thread)
        start, cuts = counted(thread), proxy.cuts
        proxy.cut_in(position)
        verb(thread)
        proxy.cut_in(None)
        more = tuple(now - then for now, then in zip(counted(thread), start, strict=True))
        assert more == effect, f"after answer {position} was lost"
        assert shape(thread) == wanted, f"after answer {position} was lost"
        assert len(cursors(store, thread.id)) <= 1
        if proxy.cuts == cuts:
            break  # the verb has fewer answers than that: every one of them has been lost once
        position += 1
    assert position >= 1, "an answer was really lost"
