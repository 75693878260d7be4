"""kill -9 of the server in the middle of concurrent writes: what was acknowledged is there, and writers go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from own_server import kill, own_server
from racing import connect, cursors

from graphstore import GraphStore, Status
from graphstore.errors import ServerUnavailable
from graphstore.local import Endpoint, LocalServer

WRITERS = 4


class Writer(threading.Thread):
    """Runs turns one after the other in a conversation of its own, and keeps what was acknowledged."""

    def __init__(self, store: GraphStore, name: str, done: threading.Event) -> None:
        super().__init__(name=name)
        self.store = store
        self.done = done
        self.conversation_id = store.create_conversation(id=name)
        self.begun: list[str] = []
        self.settled: list[str] = []
        self.errors: list[BaseException] = []

    def run(self) -> None:
        try:
            while not self.done.is_set():
                with self.store.turn(self.conversation_id, owner=self.name) as turn:
                    call = turn.call(f"Question {len(self.begun)}")
                    self.begun.append(call.id)
                    call.succeed(f"Answer {len(self.settled)}")
                    self.settled.append(call.id)
        except BaseException as error:  # noqa: BLE001 - the test shows it
            self.errors.append(error)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalServer, Endpoint]]:
    """A server that may be killed; each test leaves it running."""
    with own_server(tmp_path_factory.mktemp("killed")) as running:
        yield running


@pytest.mark.rule("L1", "S2", "S5", "C4")
def test_no_acknowledged_write_is_lost_and_writers_recover(
    own: tuple[LocalServer, Endpoint], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A restart takes 6 seconds, but on a machine busy with other things a minute.
    monkeypatch.setattr("graphstore.database.RETRY_SECONDS", 300.0)
    kills = 8 if request.config.getoption("--slow") else 1
    server, endpoint = own
    done = threading.Event()
    with connect(endpoint, "killed") as store:
        writers = [Writer(store, f"writer {number}", done) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        for _ in range(kills):
            before = [len(writer.settled) for writer in writers]
            progressed(writers, before)
            kill(server)
            assert server.ensure() == endpoint, "the same port and password after a crash"
        progressed(writers, [len(writer.settled) for writer in writers])
        done.set()
        for writer in writers:
            writer.join()

        acknowledged = 0
        for writer in writers:
            assert writer.errors == [], "the store's own repeats carried it over the crash"
            path = store.path(writer.conversation_id)
            assert [node.id for node in path] == writer.settled, "each written once, in order, none lost"
            assert [node.id for node in store.tree(writer.conversation_id)] == writer.begun
            assert {node.status for node in path} == {Status.SUCCEEDED}
            assert [node.returned[0]["content"] for node in path] == [f"Answer {n}" for n in range(len(path))]
            moves = store.moves(writer.conversation_id)
            assert [(move.seq, move.to_id, move.accepted) for move in moves] == [
                (number + 1, node, True) for number, node in enumerate(writer.settled)
            ]
            assert cursors(store, writer.conversation_id) == writer.settled[-1:]
            acknowledged += len(writer.settled)
        assert acknowledged >= WRITERS * (kills + 1)


def progressed(writers: list[Writer], before: list[int]) -> None:
    """Wait until every writer has finished a turn more."""
    while not all(len(writer.settled) > count for writer, count in zip(writers, before, strict=True)):
        assert all(writer.is_alive() for writer in writers), [writer.errors for writer in writers]
        time.sleep(0.02)


@pytest.mark.rule("L1")
def test_a_server_that_stays_away_is_named_and_the_write_can_be_repeated(
    own: tuple[LocalServer, Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, endpoint = own
    with connect(endpoint, "away") as store:
        conversation_id = store.create_conversation()
        turn = store.turn(conversation_id)
        call = turn.call("Question")
        call.succeed("Answer")
        kill(server)
        monkeypatch.setattr("graphstore.database.RETRY_SECONDS", 0.5)
        with pytest.raises(ServerUnavailable, match="repeat"):
            turn.end()
        monkeypatch.undo()
        server.ensure()
        turn.end()
        assert cursors(store, conversation_id) == [call.id]
