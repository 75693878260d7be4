"""kill -9 of the server and of its clients at random moments, in the middle of everything that writes.

Nothing that was acknowledged is lost, everything else is there whole or not at all, and whoever comes next can go on.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import killed_client
import pytest
from consistency import disagreements
from killed_client import LEASE, LENGTH, WORK, exported
from own_server import kill, own_server
from racing import ask, connect, value

from graphstore import GraphStore, Status
from graphstore.errors import NotFound
from graphstore.local import Endpoint, LocalServer
from graphstore.store.imported_rows import node_id_of

PATIENCE = 240
"""Seconds in which a client gets something done, also where a server starts anew on a busy machine."""


@dataclass
class Client:
    """A process at work, and what it has noted."""

    kind: str
    workspace: str
    log: Path
    process: subprocess.Popen[str]

    def notes(self) -> list[dict[str, Any]]:
        """What it noted; a line that was cut off by the kill was never told to anybody."""
        lines = self.log.read_text("utf-8").split("\n")[:-1] if self.log.exists() else []
        return [json.loads(line) for line in lines]

    def done(self) -> list[dict[str, Any]]:
        return [note for note in self.notes() if note["what"] == "done"]

    def kill(self) -> None:
        assert self.process.poll() is None, f"{self.kind} ended by itself: {self.process.communicate()[1]}"
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        self.process.communicate()


def started(endpoint: Endpoint, kind: str, name: str, folder: Path) -> Client:
    log = folder / f"{name}.log"
    process = subprocess.Popen(
        [sys.executable, killed_client.__file__, endpoint.uri, endpoint.username, name, kind, str(log)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(endpoint.password + "\n")
    process.stdin.flush()
    return Client(kind, name, log, process)


def progressed(clients: list[Client], enough: int) -> None:
    """Wait until so many of them have had something more acknowledged."""
    before = {client.workspace: len(client.done()) for client in clients}
    deadline = time.monotonic() + PATIENCE
    waiting = list(clients)
    while len(clients) - len(waiting) < enough:
        waiting = [client for client in waiting if len(client.done()) <= before[client.workspace]]
        for client in waiting:
            assert client.process.poll() is None, f"{client.kind} ended: {client.process.communicate()[1]}"
        assert time.monotonic() < deadline, f"no progress: {[client.kind for client in waiting]}"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalServer, Endpoint]]:
    """A server to be killed."""
    with own_server(tmp_path_factory.mktemp("killed-at-random")) as running:
        yield running


def free(store: GraphStore, conversation_id: str) -> None:
    """Wait until the dead client's lease is over."""
    deadline = time.monotonic() + PATIENCE
    while store.conversation(conversation_id).turn is not None:
        assert time.monotonic() < deadline
        time.sleep(LEASE / 10)


def check_turns(store: GraphStore, client: Client) -> None:
    notes = client.notes()
    conversation_id = notes[0]["conversation"]
    pending = [node for node in store.tree(conversation_id) if node.status is Status.PENDING]
    assert len(pending) <= 1
    free(store, conversation_id)
    after = ask(store, conversation_id, "Who goes on?", "I do").id
    path = {node.id: node for node in store.path(conversation_id)}
    done = [note["node"] for note in client.done()]
    assert [node for node in path if node in set(done)] == done, "all acknowledged calls are on the path, in order"
    assert len(done) <= len(path) - 1 <= len(done) + 1
    assert {path[node].status for node in done} == {Status.SUCCEEDED}
    for node in pending:
        assert path[node.id].failure is not None
        assert path[node.id].failure.kind == "lost"
    paid = [item["output"] for item in store.context(conversation_id).items if item["type"] == "tool_result"]
    sent = [note["output"] for note in notes if note["what"] == "sent"]
    assert paid[: len(sent)] == sent, "what tools gave is in the next context, also of the call that was cut off"
    assert store.conversation(conversation_id).cursor == after


def check_edits(store: GraphStore, client: Client) -> None:
    conversation_id = client.notes()[0]["conversation"]
    free(store, conversation_id)
    tree = {node.id: node for node in store.tree(conversation_id)}
    done = [note["node"] for note in client.done()]
    assert [tree[node].returned[0]["content"] for node in done] == [f"A{number + 1}" for number in range(len(done))]
    assert len(done) + 1 <= len(tree) <= len(done) + 2
    assert {node.parent_id for node in tree.values()} == {None}, "each version is a first question"
    ask(store, conversation_id, "On", "Yes")


def check_compactions(store: GraphStore, client: Client) -> None:
    conversation_id = client.notes()[0]["conversation"]
    free(store, conversation_id)
    done = [note["node"] for note in client.done()]
    path = [node.id for node in store.path(conversation_id)]
    assert path[: len(done)] == done
    assert len(path) <= len(done) + 1
    ask(store, conversation_id, "On", "Yes")
    if len(done) > 2:
        summary = store.context(conversation_id).items[0]["content"]
        assert summary.startswith("All up to ")
        assert summary.removeprefix("All up to ") in path


def left_of(store: GraphStore, conversation_id: str) -> int:
    count: int = value(
        store,
        "RETURN COUNT { MATCH (n:Node {workspace: $workspace, conversation_id: $id}) } "
        "+ COUNT { MATCH (:Conversation {workspace: $workspace, id: $id}) } "
        "+ COUNT { MATCH (m:Move {workspace: $workspace, conversation_id: $id}) }",
        id=conversation_id,
    )
    return count


def check_deletions(store: GraphStore, client: Client) -> None:
    done = {note["conversation"] for note in client.done()}
    for note in client.notes():
        id = note["conversation"]
        if id in done:
            with pytest.raises(NotFound):
                store.conversation(id)
        elif note["what"] == "begin":
            try:
                store.delete_conversation(id)
            except NotFound:
                assert left_of(store, id) == 0, "it was gone, and only the answer was lost"
        assert left_of(store, id) == 0
        said = [item["content"] for item in store.context(note["fork"]).items]
        assert said == [text for number in range(LENGTH // 4 + 1) for text in (f"Q{number}", f"A{number}")]


def check_clears(store: GraphStore, client: Client) -> None:
    done = {note["conversation"] for note in client.done()}
    for note in client.notes():
        id = note["conversation"]
        if id not in done:
            store.clear(id)
        assert (store.tree(id), store.conversation(id).cursor, store.context(id).items) == ([], None, [])
        assert value(store, "MATCH (n:Node {workspace: $workspace, conversation_id: $id}) RETURN count(n)", id=id) == 0


def check_purges(store: GraphStore, client: Client) -> None:
    done = {note["conversation"] for note in client.done()}
    for note in client.notes():
        id = note["conversation"]
        if id not in done:
            try:
                store.purge(note["node"])
            except NotFound:
                assert store.tombstones(id) == [], "it was gone, and only the answer was lost"
        assert [node.id for node in store.tree(id)] == note["kept"]
        assert value(store, "MATCH (n:Node {workspace: $workspace, conversation_id: $id}) RETURN count(n)", id=id) == 2


def check_imports(store: GraphStore, client: Client) -> None:
    done = [note["name"] for note in client.done()]
    assert done == [f"{client.workspace} {number + 1}" for number in range(len(done))]
    begun = value(store, "MATCH (c:Conversation {workspace: $workspace}) RETURN count(c)")
    assert begun >= len(done)
    names = [f"{client.workspace} {number + 1}" for number in range(begun)]
    for name, again in zip(names, store.import_conversations(map(exported, names)), strict=True):
        assert again.nodes_added + again.nodes_known == LENGTH
        assert again.conversation_id is not None
        if name in done:
            assert (again.nodes_added, again.cursor_moved) == (0, False), "it was stored whole when that was said"
        nodes = store.tree(again.conversation_id)
        assert len(nodes) == LENGTH
        assert store.conversation(again.conversation_id).cursor == node_id_of(again.conversation_id, f"{LENGTH - 1}")


CHECKS = {
    "turns": check_turns,
    "edits": check_edits,
    "compactions": check_compactions,
    "deletions": check_deletions,
    "clears": check_clears,
    "purges": check_purges,
    "imports": check_imports,
}


@pytest.mark.rule("S2", "S5", "C4", "C6", "F3", "X3", "X4", "I5", "L1")
def test_no_acknowledged_write_is_lost_and_the_rest_is_whole_or_absent(
    own: tuple[LocalServer, Endpoint], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    server, endpoint = own
    many = request.config.getoption("--slow")
    server_kills, client_rounds = (40, 20) if many else (6, 2)
    moments = random.Random()
    killed = {"server": 0, "clients": 0}
    for round in range(client_rounds):
        clients = [started(endpoint, kind, f"{kind} {round}", tmp_path) for kind in WORK]
        progressed(clients, len(clients))
        for _ in range(server_kills // client_rounds):
            time.sleep(moments.uniform(0, 0.3))
            kill(server)
            killed["server"] += 1
            assert server.ensure() == endpoint
            progressed(clients, 2)
        for client in clients:
            time.sleep(moments.uniform(0, 0.2))
            client.kill()
            killed["clients"] += 1
        for client in clients:
            with connect(endpoint, client.workspace) as store:
                assert disagreements(store) == {}, f"after the kill, {client.kind}"
                CHECKS[client.kind](store, client)
                assert disagreements(store) == {}, f"after going on, {client.kind}"
    print(f"killed: {killed}")  # noqa: T201 - how many there were is part of the proof
    assert sum(killed.values()) >= 20
