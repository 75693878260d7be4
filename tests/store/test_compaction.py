"""Compactions, who can read them, and how they unfold (rules K1 to K4, B6, B7)."""

from __future__ import annotations

import pytest
from conversing import answered, ask, assistant, said, talk, tool_call, tool_result, user

from graphstore import errors


@pytest.mark.rule("K1", "K4")
def test_a_compaction_has_no_parent_but_an_original_and_the_cursor_moves_to_it(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    folded = store.compact(conversation_id, "Summary", sent="Summarise this.", provider="openai", model="gpt-5")
    node = store.node(folded)
    assert (node.kind, node.parent_id, node.compacts_id, node.readers) == ("compaction", None, nodes[1], ("*",))
    assert (node.sent, node.returned) == ([user("Summarise this.")], [user("Summary")])
    assert store.conversation(conversation_id).cursor == folded
    last = store.moves(conversation_id)[-1]
    assert (last.reason, last.from_id, last.to_id) == ("compaction", nodes[1], folded)


@pytest.mark.rule("K1")
def test_only_what_it_returned_is_assembled_and_the_next_call_stands_on_it(store, new_process_store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    folded = store.compact(conversation_id, "Summary", sent="Summarise this.")
    end = ask(store, conversation_id, "Q2", "A2")
    assert store.node(end).parent_id == folded
    for reader in (store, new_process_store()):
        context = reader.context(conversation_id)
        assert said(context) == ["Summary", "Q2", "A2"]
        assert context.nodes == (folded, end)


@pytest.mark.rule("K1")
def test_the_system_prompt_and_tools_stay_in_force_below_a_compaction(store, new_process_store):
    tools = [{"name": "f"}]
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Q1", "A1", system="Be brief.", tools=tools)
    store.compact(conversation_id, "Summary")
    for reader in (store, new_process_store()):
        settings = reader.context(conversation_id).settings
        assert (settings.system, settings.tools) == ("Be brief.", tools)
    end = ask(new_process_store(), conversation_id, "Q2", "A2")
    assert store.node(end).system_hash is not None
    assert store.context(conversation_id).settings.system == "Be brief."


@pytest.mark.rule("K2", "K3")
def test_a_reader_that_can_not_read_it_gets_the_original_unfolded(store, new_process_store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    folded = store.compact(conversation_id, [{"type": "compacted", "blob": "x"}], readers=["openai"])
    end = ask(store, conversation_id, "Q2", "A2")
    for reader in (store, new_process_store()):
        assert reader.context(conversation_id, for_provider="openai").nodes == (folded, end)
        other = reader.context(conversation_id, for_provider="anthropic")
        assert said(other) == ["Q1", "A1", "Q2", "A2"]
        assert other.nodes == (nodes[0], folded, end)


@pytest.mark.rule("K3")
@pytest.mark.parametrize(
    ("readers", "provider", "model", "readable"),
    [
        (["*"], None, None, True),
        (["*"], "openai", "gpt-5", True),
        (["openai"], "openai", None, True),
        (["openai"], "openai", "gpt-5", True),
        (["gpt-5"], "azure", "gpt-5", True),
        (["openai/gpt-5"], "openai", "gpt-5", True),
        (["openai/gpt-5"], "azure", "gpt-5", False),
        (["openai/gpt-5"], "openai", "gpt-4", False),
        (["anthropic", "openai"], "openai", None, True),
        (["anthropic"], "openai", "gpt-5", False),
        (["anthropic"], None, None, False),
    ],
)
def test_who_can_read_a_compaction(store, readers, provider, model, readable):
    conversation_id, _ = talk(store, ("Q", "A"))
    store.compact(conversation_id, "Summary", readers=readers)
    context = store.context(conversation_id, for_provider=provider, for_model=model)
    assert said(context) == (["Summary"] if readable else ["Q", "A"])


@pytest.mark.rule("K2")
def test_nested_compactions_unfold_as_far_as_needed_and_no_further(store, new_process_store, queries_of):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    store.compact(conversation_id, "S1 for all")
    ask(store, conversation_id, "Q2", "A2")
    store.compact(conversation_id, "S2 for openai", readers=["openai"])
    ask(store, conversation_id, "Q3", "A3")
    store.compact(conversation_id, "S3 for anthropic", readers=["anthropic"])
    ask(store, conversation_id, "Q4", "A4")
    expected = {
        "anthropic": ["S3 for anthropic", "Q4", "A4"],
        "openai": ["S2 for openai", "Q3", "A3", "Q4", "A4"],
        "google": ["S1 for all", "Q2", "A2", "Q3", "A3", "Q4", "A4"],
    }
    for provider, texts in expected.items():
        assert said(store.context(conversation_id, for_provider=provider)) == texts
        fresh = new_process_store()
        with queries_of(fresh) as names:
            assert said(fresh.context(conversation_id, for_provider=provider)) == texts
        assert names == ["read/assemble"]
    assert said(store.context(conversation_id)) == expected["google"]


@pytest.mark.rule("K2")
def test_when_the_original_is_gone_who_can_not_read_the_compaction_is_told_so(store, new_process_store, cypher):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    folded = store.compact(conversation_id, "Summary", readers=["openai"])
    ask(store, conversation_id, "Q2", "A2")
    cypher("MATCH (n:Node {workspace: $workspace, id: $id}) DETACH DELETE n", id=nodes[0])
    fresh = new_process_store()
    with pytest.raises(errors.CompactionUnreadable, match=folded) as refused:
        fresh.context(conversation_id, for_provider="anthropic")
    assert (refused.value.compaction_id, refused.value.readers) == (folded, ("openai",))
    assert said(fresh.context(conversation_id, for_provider="openai")) == ["Summary", "Q2", "A2"]
    with pytest.raises(errors.CompactionUnreadable):
        fresh.turn(conversation_id).call("Q3", provider="anthropic")
    assert next(node.id for node in fresh.path(conversation_id)) == folded


@pytest.mark.rule("K4")
def test_a_running_turn_may_compact_between_its_rounds_and_the_cursor_moves_only_at_its_end(store, new_process_store):
    conversation_id, nodes = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        call = turn.call("Q2", provider="openai")
        with pytest.raises(errors.InvalidInput, match="between"):
            turn.compact("too early")
        call.succeed([tool_call("c1")])
        folded = turn.compact([user("Summary"), tool_call("c1")], readers=("openai",))
        assert store.conversation(conversation_id).cursor == nodes[0]
        last = turn.call([tool_result("c1")], provider="openai")
        assert [item["type"] for item in last.context.items] == ["message", "tool_call", "tool_result"]
        assert last.context.warnings == []
        last.succeed("A2")
    node = store.node(last.id)
    assert (node.parent_id, node.turn_id, store.node(folded).compacts_id) == (folded, turn.id, call.id)
    assert store.conversation(conversation_id).cursor == last.id
    for reader in (store, new_process_store()):
        unfolded = reader.context(conversation_id, for_provider="anthropic")
        assert said(unfolded) == ["Q1", "A1", "Q2", "A2"]
        assert len(unfolded.items) == 6
        assert unfolded.warnings == []
    assert [move.reason for move in store.moves(conversation_id)] == ["turn", "turn"]


@pytest.mark.rule("K1", "A4")
def test_calls_within_a_compaction_are_paired_like_any(store, new_process_store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    store.compact(conversation_id, [user("Summary"), tool_call("c1"), tool_result("c1"), tool_call("open")])
    for reader in (store, new_process_store()):
        context = reader.context(conversation_id, new_items="Q2")
        assert [item["type"] for item in context.items] == ["message", "tool_call", "tool_result", "message"]
        assert len(context.warnings) == 1
        assert "'open'" in context.warnings[0]


@pytest.mark.rule("K4", "F2")
def test_an_overflow_after_a_compaction_within_the_turn_ends_at_the_compaction(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        turn.call("Q2").succeed("working")
        folded = turn.compact("Summary")
        turn.call("go on").fail("context_overflow")
    assert store.conversation(conversation_id).cursor == folded
    assert said(store.context(conversation_id)) == ["Summary"]


@pytest.mark.rule("B6")
def test_questions_behind_a_compaction_are_shown_but_can_not_be_changed(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    folded = store.compact(conversation_id, "Summary")
    for verb in (
        lambda: store.edit(conversation_id, nodes[0], "Q1b"),
        lambda: store.regenerate(conversation_id, nodes[1]),
        lambda: store.regenerate(conversation_id),
        lambda: store.correct(conversation_id, "A2b"),
        lambda: store.correct(conversation_id, "A1b", node_id=nodes[0]),
    ):
        with pytest.raises(errors.BehindCompaction, match=folded) as refused:
            verb()
        assert refused.value.compaction_id == folded
    with pytest.raises(errors.InvalidInput, match="compaction"):
        store.edit(conversation_id, folded, "Q")
    assert [node.id for node in store.path(conversation_id)] == [*nodes, folded]
    assert [marker.node_id for marker in store.markers(conversation_id)] == nodes
    end = ask(store, conversation_id, "Q3", "A3")
    assert store.node(answered(store.regenerate(conversation_id, end), "A3b")).parent_id == folded


@pytest.mark.rule("K1", "S5")
def test_the_same_compaction_again_is_the_same_and_another_of_its_id_is_refused(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    assert store.compact(conversation_id, "Summary", id="summary") == "summary"
    assert store.compact(conversation_id, "Summary", id="summary") == "summary"
    with pytest.raises(errors.IdConflict):
        store.compact(conversation_id, "Another summary", id="summary")
    assert len(store.tree(conversation_id)) == 2


@pytest.mark.rule("B6", "B7", "B5")
def test_who_asks_to_unfold_branches_from_the_original_and_never_carries_the_summary(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    folded = store.compact(conversation_id, "Summary")
    below = ask(store, conversation_id, "Q3", "A3")
    edited = answered(store.edit(conversation_id, nodes[1], "Q2b", unfold=True), "A2b")
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2b", "A2b"]
    assert [(marker.position, marker.count) for marker in store.markers(conversation_id)] == [(1, 1), (2, 2)]
    assert store.switch(conversation_id, nodes[1]) == below
    assert said(store.context(conversation_id)) == ["Summary", "Q3", "A3"]
    assert store.switch(conversation_id, edited) == edited
    store.switch(conversation_id, folded)
    corrected = store.correct(conversation_id, "A1b", node_id=nodes[0], unfold=True)
    assert [node.id for node in store.path(conversation_id)] == [corrected]


@pytest.mark.rule("B6")
def test_who_asks_to_unfold_regenerates_the_last_answer_before_the_compaction(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    store.compact(conversation_id, "Summary")
    again = answered(store.regenerate(conversation_id, unfold=True), "A2b")
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2", "A2b"]
    assert store.node(again).parent_id == nodes[0]


@pytest.mark.rule("B6", "B7", "X1")
def test_a_fork_at_the_original_goes_on_without_the_summary(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    store.compact(conversation_id, "Summary")
    fork = store.fork(nodes[1])
    answered(store.edit(fork, nodes[1], "Q2b"), "A2b")
    assert said(store.context(fork)) == ["Q1", "A1", "Q2b", "A2b"]


@pytest.mark.rule("B7")
def test_a_branch_never_inherits_a_summary_of_another(store):
    conversation_id, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    store.compact(conversation_id, "Summary of Q1 and Q2")
    end = ask(store, conversation_id, "Q3", "A3")
    other = store.fork(nodes[0])
    ask(store, other, "Q2b", "A2b")
    assert said(store.context(other)) == ["Q1", "A1", "Q2b", "A2b"]
    assert said(store.context(node_id=nodes[1])) == ["Q1", "A1", "Q2", "A2"]
    assert store.switch(conversation_id, nodes[0]) == end


@pytest.mark.rule("K1", "K3")
def test_a_compaction_needs_something_to_compact_something_to_return_and_a_reader(store):
    empty = store.create_conversation()
    with pytest.raises(errors.InvalidInput, match="empty"):
        store.compact(empty, "Summary")
    conversation_id, nodes = talk(store, ("Q", "A"))
    for returned, readers in (([], ["*"]), ("S", []), ("S", "openai")):
        with pytest.raises(errors.InvalidInput):
            store.compact(conversation_id, returned, readers=readers)
    assert store.conversation(conversation_id).cursor == nodes[0]


@pytest.mark.rule("K1")
def test_a_compaction_may_hold_any_items(store):
    conversation_id, _ = talk(store, ("Q", "A"))
    store.compact(conversation_id, [user("Q"), assistant("shorter")])
    assert said(store.context(conversation_id)) == ["Q", "shorter"]
