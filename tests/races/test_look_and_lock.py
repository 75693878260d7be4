"""What a write had found is removed by another before it gets the lock: it looks again instead of failing."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from racing import ask

from graphstore import GraphStore
from graphstore.errors import NodeNotFound

WAITING = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS n"


@pytest.mark.rule("X4", "S5")
@pytest.mark.parametrize("verb", ["fork", "propose", "write"])
def test_a_write_that_waits_for_a_node_being_removed_says_that_it_is_gone(store: GraphStore, verb: str) -> None:
    conversation_id = store.create_conversation()
    node = ask(store, conversation_id, "Question", "Answer").id
    late = {
        "fork": lambda: store.fork(node),
        "propose": lambda: store.effects.propose(node, "send_mail"),
        "write": lambda: store.state.write(node, "city", "Graz"),
    }[verb]
    database = store.session.database
    with database.session("write") as session, session.begin_transaction() as removal, ThreadPoolExecutor(1) as pool:
        found = "MATCH (n:Node {workspace: $workspace, id: $id}) "
        removal.run(found + "SET n.round = n.round DETACH DELETE n", workspace=store.workspace, id=node).consume()
        waiting = pool.submit(late)
        with database.session("read") as looking:
            for _ in range(100):
                if looking.run(WAITING).single(strict=True)["n"]:
                    break
                time.sleep(0.02)
        removal.commit()
        with pytest.raises(NodeNotFound):
            waiting.result(60)
