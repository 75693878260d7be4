"""A process keeps what it has assembled and reads only what is new (rule A7)."""

from __future__ import annotations

import pytest
from conversing import answered, ask, said, talk, tool_call, tool_result

from graphstore import GraphStore, errors
from graphstore.store.held import HeldContexts
from graphstore.store.session import Session


@pytest.mark.rule("A7")
def test_the_second_and_later_rounds_of_a_turn_read_nothing(store, queries_of):
    conversation_id, _ = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    with store.turn(conversation_id) as turn:
        turn.call("Q3").succeed([tool_call("c0")])
        with queries_of(store) as names:
            for number in range(3):
                call = turn.call([tool_result(f"c{number}")])
                assert call.context.items
                assert call.context.hash
                call.succeed([tool_call(f"c{number + 1}")])
            turn.call([tool_result("c3")]).succeed("A3")
        assert names == ["write/append_call", "write/settle_call"] * 4
    assert said(store.context(conversation_id))[-1] == "A3"


@pytest.mark.rule("A7")
def test_a_longer_path_reads_only_what_is_new_below_what_is_held(store, new_process_store):
    conversation_id, _ = talk(store, *[(f"Q{n}", f"A{n}") for n in range(6)])
    reader = new_process_store()
    assert reader.context(conversation_id).held == 0
    assert reader.context(conversation_id).held == 6
    ask(store, conversation_id, "Q6", "A6")
    ask(store, conversation_id, "Q7", "A7")
    rows = []
    run = reader.session.database.row
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader.session.database, "row", lambda *a, **k: rows.append(run(*a, **k)) or rows[-1])
        context = reader.context(conversation_id)
    assert len(rows) == 1
    assert len(rows[0]["ids"]) == 3  # the two new ones and the held one they hang under
    assert context.held == 6
    assert context.body == new_process_store().context(conversation_id).body


@pytest.mark.rule("A7")
def test_the_next_turn_of_the_same_process_reads_only_the_check(store, queries_of):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    with queries_of(store) as names:
        with store.turn(conversation_id) as turn:
            call = turn.call("Q3")
            call.succeed("A3", end_turn=True)
        assert names == ["read/extend", "write/append_call", "write/settle_call"]
    assert call.context.held == len(nodes)


@pytest.mark.rule("A7", "C6")
def test_a_late_completion_of_a_lost_call_shows_in_contexts_held_by_other_processes(store, new_process_store):
    conversation_id = store.create_conversation()
    late = store.turn(conversation_id, lease_seconds=0.001)
    call = late.call("Q1")
    ask(store, conversation_id, "Q2", "A2")
    reader = new_process_store()
    for process in (store, reader):
        assert said(process.context(conversation_id)) == ["Q1", "Q2", "A2"]
    with pytest.raises(errors.TurnLost):
        call.succeed("A1, late")
    for process in (store, reader, new_process_store()):
        assert said(process.context(conversation_id)) == ["Q1", "A1, late", "Q2", "A2"]


@pytest.mark.rule("A7", "A3")
def test_a_pending_node_held_by_another_process_is_read_again_once_it_is_settled(store, new_process_store):
    conversation_id = store.create_conversation()
    reader = new_process_store()
    with store.turn(conversation_id) as turn:
        call = turn.call("Q")
        assert said(reader.context(node_id=call.id)) == ["Q"]
        call.succeed("A")
    assert said(reader.context(node_id=call.id)) == ["Q", "A"]
    assert said(reader.context(conversation_id)) == ["Q", "A"]


@pytest.mark.rule("A7", "A5")
def test_what_was_removed_from_the_store_is_not_given_from_memory(store, new_process_store, cypher):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    reader = new_process_store()
    assert len(reader.context(conversation_id).nodes) == 2
    # as a deletion does: data goes, and the conversation's count of removals rises
    cypher(
        """MATCH (c:Conversation {workspace: $workspace, id: $id}) SET c.removals = c.removals + 1
           WITH c MATCH (n:Node {workspace: $workspace, id: $node}) DETACH DELETE n""",
        id=conversation_id,
        node=nodes[0],
    )
    for process in (reader, store):
        with pytest.raises(errors.PathBroken):
            process.context(conversation_id)


@pytest.mark.rule("A7", "S6")
def test_a_conversation_that_no_longer_exists_is_not_given_from_memory(store, new_process_store, cypher):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    reader = new_process_store()
    reader.context(conversation_id)
    cypher("MATCH (c:Conversation {workspace: $workspace, id: $id}) SET c.deleting = true", id=conversation_id)
    with pytest.raises(errors.ConversationNotFound):
        reader.context(conversation_id)


@pytest.mark.rule("A7", "B5")
def test_each_branch_of_a_tree_is_given_right_in_whatever_order_they_are_asked_for(store, new_process_store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"), ("Q3", "A3"))
    ends = {nodes[2]: ["Q1", "A1", "Q2", "A2", "Q3", "A3"]}
    for number in range(3):
        end = answered(store.edit(conversation_id, nodes[1], f"edit {number}"), f"answer {number}")
        ends[end] = ["Q1", "A1", f"edit {number}", f"answer {number}"]
    reader = new_process_store()
    for _ in range(2):
        for end, expected in ends.items():
            store.switch(conversation_id, end)
            assert said(reader.context(conversation_id)) == expected
            assert said(reader.context(node_id=end)) == expected


@pytest.mark.rule("A7")
def test_what_is_held_is_bounded_and_all_is_given_all_the_same(store, connected):
    conversation_id, _ = talk(store, *[(f"Q{n} " + "x" * 2000, f"A{n}") for n in range(6)])
    small = GraphStore(Session(connected.session.database, store.workspace, None, HeldContexts(10_000)))
    for _ in range(2):
        assert len(small.context(conversation_id).items) == 12
        assert small.session.held.size <= 10_000
    ask(small, conversation_id, "Q6", "A6")
    assert len(small.context(conversation_id).items) == 14


@pytest.mark.rule("A7", "K2")
def test_readers_of_different_compactions_do_not_see_each_others_held_context(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    store.compact(conversation_id, "Summary", readers=["openai"])
    for _ in range(2):
        assert said(store.context(conversation_id, for_provider="openai")) == ["Summary"]
        assert said(store.context(conversation_id)) == ["Q1", "A1"]
        assert said(store.context(conversation_id, for_provider="anthropic")) == ["Q1", "A1"]
