"""Races: the same work started by several threads, or by several processes, at the same instant.

A work is a module-level function ``work(store, racer, start, *arguments)`` that returns something picklable; it waits
at ``start`` before each thing that is to be raced for.
"""

from __future__ import annotations

import multiprocessing
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from graphstore import Call, GraphStore
from graphstore.local import Endpoint

RACERS = 4
"""How many race, unless a test's marker ``racers`` says otherwise: one of these, or of ``CROWD``."""

CROWD = 8
MEET_SECONDS = 120
"""How long a racer waits for the others before the race is declared broken."""

Work = Callable[..., Any]


class Race(NamedTuple):
    """One way of racing: ``run(work, *arguments)`` gives what each of the racers returned, in order."""

    store: GraphStore
    processes: RacingProcesses | None
    racers: int = RACERS

    def run(self, work: Work, *arguments: Any) -> list[Any]:
        if self.processes is not None:
            return self.processes.run(self.racers, self.store.workspace, work, *arguments)
        start = threading.Barrier(self.racers, timeout=MEET_SECONDS)

        def one(racer: int) -> Any:
            try:
                return work(self.store, racer, start, *arguments)
            except BaseException:
                start.abort()
                raise

        with ThreadPoolExecutor(self.racers) as pool:
            running = [pool.submit(one, racer) for racer in range(self.racers)]
        return _outcomes([each.exception() or each.result() for each in running])


class RacingProcesses:
    """Processes that wait for work, each with connections of its own; starting them takes longer than any race."""

    def __init__(self, endpoint: Endpoint) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._starts = {racers: spawning.Barrier(racers, timeout=MEET_SECONDS) for racers in (RACERS, CROWD)}
        pipes = [spawning.Pipe() for _ in range(CROWD)]
        self._ours = [ours for ours, _ in pipes]
        self._processes = [
            spawning.Process(target=_serve, args=(endpoint, racer, self._starts, theirs), daemon=True)
            for racer, (_, theirs) in enumerate(pipes)
        ]
        for process in self._processes:
            process.start()

    def run(self, racers: int, workspace: str, work: Work, *arguments: Any) -> list[Any]:
        """Run ``work`` in so many processes."""
        self._starts[racers].reset()
        for pipe in self._ours[:racers]:
            pipe.send((racers, workspace, work, arguments))
        return _outcomes([pipe.recv() for pipe in self._ours[:racers]])

    def close(self) -> None:
        """End the processes."""
        for pipe in self._ours:
            pipe.send(None)
        for process in self._processes:
            process.join(MEET_SECONDS)


def _serve(endpoint: Endpoint, racer: int, starts: dict[int, Any], pipe: Any) -> None:
    with connect(endpoint, "races") as connected:
        while (task := pipe.recv()) is not None:
            racers, workspace, work, arguments = task
            start = starts[racers]
            try:
                answer = work(connected.in_workspace(workspace, actor=f"process {racer}"), racer, start, *arguments)
            except BaseException as error:  # noqa: BLE001 - told to the test, which raises it
                start.abort()
                answer = RuntimeError("".join(traceback.format_exception(error)))
            pipe.send(answer)


def _outcomes(answered: list[Any]) -> list[Any]:
    errors = [each for each in answered if isinstance(each, BaseException)]
    # A broken barrier is only the echo of what went wrong elsewhere.
    for error in sorted(errors, key=lambda one: "BrokenBarrierError" in repr(one)):
        raise error
    return answered


def connect(endpoint: Endpoint, workspace: str, *, actor: str | None = None) -> GraphStore:
    """Open a store of one's own on a workspace."""
    return GraphStore.connect(
        endpoint.uri, auth=(endpoint.username, endpoint.password), workspace=workspace, actor=actor
    )


def ask(store: GraphStore, conversation_id: str, question: str, answer: str) -> Call:
    """One whole turn of one call; the cursor is at that call afterwards."""
    with store.turn(conversation_id) as turn:
        call = turn.call(question)
        call.succeed(answer)
    return call


def value(store: GraphStore, cypher: str, **parameters: Any) -> Any:
    """The one value that a query of the test's own returns; ``$workspace`` is the store's."""
    with store.session.database.session("read") as session:
        return session.run(cypher, {"workspace": store.workspace, **parameters}).single(strict=True)[0]  # type: ignore[arg-type]


def cursors(store: GraphStore, conversation_id: str) -> list[str]:
    """Every node that a CURSOR relationship of the conversation names; rightly one, or none."""
    found: list[str] = value(
        store,
        "RETURN COLLECT { MATCH (:Conversation {workspace: $workspace, id: $id})-[:CURSOR]->(n) RETURN n.id }",
        id=conversation_id,
    )
    return found
