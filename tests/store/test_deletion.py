"""Deleting and clearing, with what other conversations stand on respected (rules X2, X3, X4)."""

from __future__ import annotations

import pytest
from conversing import answered, ask, said, talk

from graphstore import errors, queries
from graphstore.store import removal


def stored(cypher, label="Node"):
    return cypher(f"MATCH (n:{label} {{workspace: $workspace}}) RETURN count(n) AS stored")[0]["stored"]


@pytest.mark.rule("X2")
def test_a_deleted_conversation_leaves_nothing_behind(store, cypher):
    kept, _ = talk(store, ("Q", "A"))
    conversation_id, (first, _) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    answered(store.edit(conversation_id, first, "Q1b"), "A1b")
    store.compact(conversation_id, "a summary")
    receipt = store.delete_conversation(conversation_id)
    assert (receipt.nodes, receipt.moves, receipt.kept) == (4, 5, ())
    assert (stored(cypher), stored(cypher, "Move"), stored(cypher, "Conversation")) == (1, 1, 1)
    assert [summary.id for summary in store.conversations()] == [kept]
    for read in (store.conversation, store.context, store.path, store.tree, store.moves, store.markers):
        with pytest.raises(errors.ConversationNotFound):
            read(conversation_id)
    with pytest.raises(errors.ConversationNotFound):
        store.delete_conversation(conversation_id)


@pytest.mark.rule("X2", "X1")
def test_what_a_fork_stands_on_is_handed_to_the_oldest_that_needs_it(store, new_process_store, cypher):
    origin, nodes = talk(store, *((f"Q{n}", f"A{n}") for n in range(1, 5)))
    older, newer = store.fork(nodes[1]), store.fork(nodes[2])
    ask(store, newer, "Q of the newer", "A of the newer")
    before = {fork: said(store.context(fork)) for fork in (older, newer)}
    receipt = store.delete_conversation(origin)
    assert receipt.nodes == 1
    assert [(one.conversation_id, one.nodes, one.erased) for one in receipt.kept] == [
        (older, 2, False),
        (newer, 1, False),
    ]
    for reader in (store, new_process_store()):
        assert {fork: said(reader.context(fork)) for fork in (older, newer)} == before
        assert [node.conversation_id for node in reader.path(newer)] == [older, older, newer, newer]
        with pytest.raises(errors.ConversationNotFound):
            reader.conversation(origin)
    assert [(marker.position, marker.count) for marker in store.markers(older)] == [(1, 1), (1, 1)]
    regenerated = answered(store.edit(older, nodes[0], "Q1b"), "A1b")
    assert [(marker.position, marker.count) for marker in store.markers(older)] == [(2, 2)]
    assert store.switch(older, nodes[0]) == nodes[1]
    assert store.node(regenerated).conversation_id == older
    assert (store.delete_conversation(older).nodes, store.delete_conversation(newer).nodes) == (1, 4)
    assert stored(cypher) == 0


@pytest.mark.rule("X2")
def test_a_branch_that_a_fork_grew_on_the_shared_prefix_keeps_that_prefix(store):
    origin, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"), ("Q3", "A3"))
    fork = store.fork(nodes[0])
    answered(store.edit(fork, nodes[0], "Q1 of the fork"), "A1 of the fork")
    receipt = store.delete_conversation(origin)
    assert (receipt.nodes, [one.nodes for one in receipt.kept]) == (2, [1])
    assert store.switch(fork, nodes[0]) == nodes[0]
    assert said(store.context(fork)) == ["Q1", "A1"]


@pytest.mark.rule("X2", "K2")
def test_the_original_behind_a_forks_compaction_is_kept(store):
    origin, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    fork = store.fork(nodes[1])
    store.compact(fork, "summary", readers=["openai"])
    assert store.delete_conversation(origin).kept[0].nodes == 2
    assert said(store.context(fork, for_provider="anthropic")) == ["Q1", "A1", "Q2", "A2"]
    assert said(store.context(fork, for_provider="openai")) == ["summary"]


@pytest.mark.rule("X2")
def test_a_shared_conversation_is_not_deleted_when_that_is_to_be_refused(store):
    origin, nodes = talk(store, ("Q1", "A1"))
    fork = store.fork(nodes[0])
    with pytest.raises(errors.NodesShared) as refused:
        store.delete_conversation(origin, on_shared="refuse")
    assert refused.value.needed_by == (fork,)
    assert said(store.context(origin)) == ["Q1", "A1"]
    ask(store, origin, "Q2", "A2")
    store.delete_conversation(fork)
    assert store.delete_conversation(origin, on_shared="refuse").nodes == 2


@pytest.mark.rule("X2")
def test_erasure_blanks_what_others_need_and_says_so_in_its_place(store, new_process_store, cypher):
    origin, nodes = talk(store, ("secret question", "secret answer"), ("Q2", "A2"))
    cut_off = store.turn(origin).call("a secret question")
    cut_off.save_partial("half a secret")
    cut_off.fail("timeout")
    half = store.fork(cut_off.id)
    fork = store.fork(nodes[0])
    ask(store, fork, "Q of the fork", "A of the fork")
    assert "secret answer" in said(store.context(fork))
    receipt = store.delete_conversation(origin, on_shared="erase")
    assert [(one.conversation_id, one.nodes, one.erased) for one in receipt.kept] == [(half, 3, True)]
    for reader in (store, new_process_store()):
        assert said(reader.context(fork)) == ["[erased]", "[erased]", "Q of the fork", "A of the fork"]
    texts = cypher("MATCH (n:Node {workspace: $workspace}) RETURN n {.*} AS n")
    assert not any("secret" in str(value) for row in texts for value in row["n"].values())


@pytest.mark.rule("X2", "C5")
def test_a_running_turn_is_respected_unless_forced_and_then_learns_that_all_is_gone(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    turn = store.turn(conversation_id)
    call = turn.call("Q2")
    with pytest.raises(errors.TurnInProgress):
        store.delete_conversation(conversation_id)
    assert said(store.context(conversation_id)) == ["Q1", "A1"]
    assert store.delete_conversation(conversation_id, force=True).nodes == 2
    with pytest.raises((errors.ConversationGone, errors.NotFound)):
        call.succeed("A2")


@pytest.mark.rule("X4")
def test_an_interrupted_deletion_is_unreadable_and_finished_by_repeating_it(store, cypher, monkeypatch):
    monkeypatch.setattr(removal, "BATCH", 2)
    conversation_id, nodes = talk(store, *((f"Q{n}", f"A{n}") for n in range(5)))
    batches = 0

    def stopped(_: int) -> None:
        nonlocal batches
        batches += 1
        if batches == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.delete_conversation(conversation_id, progress=stopped)
    assert stored(cypher) == 1
    for use in (
        lambda: store.context(conversation_id),
        lambda: store.tree(conversation_id),
        lambda: store.switch(conversation_id, nodes[0]),
        lambda: store.turn(conversation_id).call("Q"),
    ):
        with pytest.raises((errors.ConversationNotFound, errors.ConversationGone)):
            use()
    with pytest.raises(errors.NodeNotFound):
        store.fork(nodes[0])
    assert list(store.conversations()) == []
    assert store.delete_conversation(conversation_id).nodes == 1
    assert (stored(cypher), stored(cypher, "Conversation")) == (0, 0)


@pytest.mark.rule("X4")
def test_nodes_go_from_the_ends_so_no_path_ever_lacks_its_top(store, monkeypatch, cypher):
    monkeypatch.setattr(removal, "BATCH", 1)
    conversation_id, nodes = talk(store, *((f"Q{n}", f"A{n}") for n in range(4)))
    left: list[list[str]] = []

    def look(_: int) -> None:
        rows = cypher("MATCH (n:Node {workspace: $workspace}) RETURN n.id AS id")
        left.append(sorted(row["id"] for row in rows))

    store.delete_conversation(conversation_id, progress=look)
    assert left == [sorted(nodes[:3]), sorted(nodes[:2]), nodes[:1], []]


@pytest.mark.rule("X3")
def test_a_cleared_conversation_starts_from_nothing(store, cypher, new_process_store):
    conversation_id, _ = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    answered(store.regenerate(conversation_id), "A2b")
    before = store.conversation(conversation_id)
    assert store.clear(conversation_id).nodes == 3
    after = store.conversation(conversation_id)
    assert (after.cursor, after.epoch, after.version) == (None, before.epoch + 1, before.version + 1)
    assert stored(cypher) == 0
    for reader in (store, new_process_store()):
        assert reader.context(conversation_id).items == []
        assert reader.tree(conversation_id) == []
    last = store.moves(conversation_id)[-1]
    assert (last.reason, last.to_id) == ("clear", None)
    assert last.from_id is not None
    ask(store, conversation_id, "Q", "A")
    assert said(store.context(conversation_id)) == ["Q", "A"]
    assert [(marker.position, marker.count) for marker in store.markers(conversation_id)] == [(1, 1)]


@pytest.mark.rule("X3", "C5")
def test_a_turn_that_began_before_a_clear_can_not_bring_the_old_back(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    turn = store.turn(conversation_id, exclusive=False)
    call = turn.call("Q2")
    store.clear(conversation_id)
    with pytest.raises((errors.ConversationGone, errors.NotFound)):
        call.succeed("A2", end_turn=True)
    assert store.context(conversation_id).items == []
    held = store.turn(conversation_id)
    running = held.call("Q")
    with pytest.raises(errors.TurnInProgress):
        store.clear(conversation_id)
    store.clear(conversation_id, force=True)
    with pytest.raises((errors.ConversationGone, errors.NotFound)):
        running.succeed("A")
    assert store.conversation(conversation_id).turn is None


@pytest.mark.rule("X3", "X1")
def test_a_clear_leaves_forks_what_they_stand_on_and_a_cleared_fork_leaves_its_origin_alone(store):
    origin, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    fork = store.fork(nodes[0])
    ask(store, fork, "Q of the fork", "A of the fork")
    receipt = store.clear(origin)
    assert (receipt.nodes, [(one.conversation_id, one.nodes) for one in receipt.kept]) == (1, [(fork, 1)])
    assert said(store.context(fork)) == ["Q1", "A1", "Q of the fork", "A of the fork"]
    again = store.fork(nodes[0])
    ask(store, again, "Q again", "A again")
    assert store.clear(again).nodes == 1
    assert store.context(again).items == []
    assert said(store.context(fork)) == ["Q1", "A1", "Q of the fork", "A of the fork"]


@pytest.mark.rule("X4")
def test_an_interrupted_clear_is_finished_by_the_next_and_new_turns_stay(store, cypher, monkeypatch):
    conversation_id, _ = talk(store, ("Q1", "A1"), ("Q2", "A2"))

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(removal, "BATCH", 1)
    with pytest.raises(KeyboardInterrupt):
        store.clear(conversation_id, progress=stop)
    new = ask(store, conversation_id, "Q", "A")
    assert said(store.context(conversation_id)) == ["Q", "A"]
    assert stored(cypher) == 2
    left = removal.Removal(store.session, conversation_id)
    left.all_of(queries.CLEARED_NODES)
    assert left.nodes == 1
    assert [node.id for node in store.tree(conversation_id)] == [new]


@pytest.mark.rule("X3")
def test_what_a_clear_still_has_to_remove_is_no_place_to_go_to(store, monkeypatch):
    conversation_id, (first, _) = talk(store, ("Q1", "A1"), ("Q2", "A2"))

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(removal, "BATCH", 1)
    with pytest.raises(KeyboardInterrupt):
        store.clear(conversation_id, progress=stop)
    for use in (
        lambda: store.switch(conversation_id, first),
        lambda: store.edit(conversation_id, first, "Q1b"),
        lambda: store.regenerate(conversation_id, first),
        lambda: store.correct(conversation_id, "A1b", node_id=first),
    ):
        with pytest.raises(errors.NodeNotFound):
            use()
    assert store.conversation(conversation_id).cursor is None


@pytest.mark.rule("X2", "X4")
def test_a_fork_begun_while_a_deletion_looks_is_handed_what_it_stands_on(store, monkeypatch):
    conversation_id, (only,) = talk(store, ("Q1", "A1"))
    forks = []
    look = removal.Removal._heirs

    def then_forked(self, above):
        heirs = look(self, above)
        if not forks:
            forks.append(store.fork(only))
        return heirs

    monkeypatch.setattr(removal.Removal, "_heirs", then_forked)
    receipt = store.clear(conversation_id)
    assert (receipt.nodes, [(one.conversation_id, one.nodes) for one in receipt.kept]) == (0, [(forks[0], 1)])
    assert said(store.context(forks[0])) == ["Q1", "A1"]


def test_children_come_before_parents_however_long_the_chain():
    above = {str(n): str(n - 1) for n in range(100_000)} | {"side": "5", "other": "side"}
    order = removal.children_first(above)
    place = {node_id: at for at, node_id in enumerate(order)}
    assert len(place) == len(above)
    assert all(place[node_id] < place[parent] for node_id, parent in above.items() if parent in place)


@pytest.mark.rule("X2")
def test_an_unknown_way_with_shared_nodes_is_refused_before_anything_is_marked(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with pytest.raises(errors.InvalidInput, match="keep, refuse, erase"):
        store.delete_conversation(conversation_id, on_shared="maybe")
    assert said(store.context(conversation_id)) == ["Q1", "A1"]
