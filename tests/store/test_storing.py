"""One call is one node: written before it is made, settled once (rules S1 to S5)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from conversing import ask, assistant, talk, tool_call, tool_result, user

from graphstore import errors

TOOLS = [{"name": "search", "description": "Find pages", "input_schema": {"type": "object", "properties": {}}}]


@pytest.mark.rule("S1")
def test_a_node_holds_all_that_is_known_about_its_call(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        call = turn.call(
            "Hello?",
            provider="openai",
            model="gpt-5",
            system="Be brief.",
            tools=TOOLS,
            response_format={"type": "json_object"},
            parameters={"temperature": 0.5},
            metadata={"trace": "t1", "nested": {"b": 1, "a": 2}},
        )
        usage = {"input_tokens": 12, "output_tokens": 3, "cached_input_tokens": 4, "audio_tokens": 7}
        call.succeed("Hi.", usage=usage, finish_reason="stop", response_id="resp_1")
    node = store.node(call.id)
    assert (node.id, node.conversation_id, node.parent_id) == (call.id, conversation_id, None)
    assert (node.sent, node.returned) == ([user("Hello?")], [assistant("Hi.")])
    assert (node.kind, node.status, node.round, node.turn_id) == ("turn", "succeeded", 0, turn.id)
    assert (node.provider, node.model, node.finish_reason, node.response_id) == ("openai", "gpt-5", "stop", "resp_1")
    assert node.usage.model_dump(exclude_defaults=True) == usage
    assert node.metadata == {"trace": "t1", "nested": {"b": 1, "a": 2}}
    assert list(node.metadata["nested"]) == ["b", "a"]
    assert all([node.system_hash, node.tools_hash, node.response_format_hash, node.parameters_hash])
    assert node.options["readers"] == ["*", "openai", "gpt-5", "openai/gpt-5"]
    assert node.author == "model"
    assert timedelta(0) <= node.finished_at - node.created_at < timedelta(minutes=1)


@pytest.mark.rule("S1")
def test_the_context_hash_is_that_of_what_was_really_sent_whatever_the_model(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    offered = store.context(conversation_id, new_items="Q2")
    with store.turn(conversation_id) as turn:
        call = turn.call("Q2", model="gpt-5", parameters={"temperature": 1})
        call.succeed("A2")
    assert store.node(call.id).context_hash == call.context.hash == offered.hash
    with store.regenerate(conversation_id, model="another") as again:
        again.current.succeed("A2b")
    assert store.node(again.current.id).context_hash == offered.hash
    with store.regenerate(conversation_id, system="Be rude.") as ruder:
        ruder.current.succeed("A2c")
    assert store.node(ruder.current.id).context_hash != offered.hash


@pytest.mark.rule("S1")
def test_what_repeats_on_every_call_is_stored_once(store, cypher):
    conversation_id = store.create_conversation()
    for number in range(3):
        ask(store, conversation_id, f"Q{number}", "A", system="You are terse.", tools=TOOLS)
    hashes = {(node.system_hash, node.tools_hash) for node in store.path(conversation_id)}
    assert len(hashes) == 1
    assert cypher("MATCH (b:Blob {workspace: $workspace}) RETURN count(b) AS stored") == [{"stored": 2}]


@pytest.mark.rule("S1")
def test_the_system_prompt_and_tools_stay_in_force_until_changed_or_taken_away(store):
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Q1", "A1", system="Old.", tools=TOOLS)
    ask(store, conversation_id, "Q2", "A2")
    assert (store.context(conversation_id).settings.system, store.context(conversation_id).settings.tools) == (
        "Old.",
        TOOLS,
    )
    ask(store, conversation_id, "Q3", "A3", system="New.", tools=None)
    assert (store.context(conversation_id).settings.system, store.context(conversation_id).settings.tools) == (
        "New.",
        None,
    )


@pytest.mark.rule("S1")
def test_tools_come_back_as_they_were_given_numbers_beyond_64_bits_too(store, new_process_store):
    tools = [{"name": "f", "input_schema": {"maximum": 2**70, "minimum": -1.5, "pattern": "\ud800\x00"}}]
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Q", "A", tools=tools)
    assert new_process_store().context(conversation_id).settings.tools == tools


@pytest.mark.rule("S2")
def test_a_call_is_stored_as_pending_with_its_sent_items_before_it_is_made(store, new_process_store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        call = turn.call("Hello?")
        seen = new_process_store().node(call.id)
        assert (seen.status, seen.sent, seen.returned, seen.finished_at) == ("pending", [user("Hello?")], [], None)
        call.succeed("Hi.")
    assert store.node(call.id).status == "succeeded"


@pytest.mark.rule("S2")
def test_the_same_completion_again_changes_nothing_and_another_is_refused(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        call = turn.call("Hello?")
        call.succeed("Hi.", usage={"output_tokens": 1})
        settled = store.node(call.id)
        call.succeed("Hi.", usage={"output_tokens": 1})
        with pytest.raises(errors.AlreadySettled, match="already succeeded"):
            call.succeed("Ho.")
        with pytest.raises(errors.AlreadySettled):
            call.succeed("Hi.", usage={"output_tokens": 2})
        with pytest.raises(errors.AlreadySettled):
            call.fail("timeout")
    assert store.node(call.id) == settled
    call.succeed("Hi.", usage={"output_tokens": 1})
    assert (store.node(call.id), store.conversation(conversation_id).cursor) == (settled, call.id)


@pytest.mark.rule("S2", "F1")
def test_a_failure_is_stored_once_too(store):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        call = turn.call("Hello?")
        call.fail("rate_limit", "Slow down.", usage={"input_tokens": 5})
        settled = store.node(call.id)
        call.fail("rate_limit", "Slow down.", usage={"input_tokens": 5})
        with pytest.raises(errors.AlreadySettled, match="already failed"):
            call.succeed("Hi.")
    assert store.node(call.id) == settled
    assert (settled.status, settled.failure.kind, settled.failure.message) == ("failed", "rate_limit", "Slow down.")
    assert settled.usage.input_tokens == 5
    assert [move.reason for move in store.moves(conversation_id)] == ["failure"]


@pytest.mark.rule("S2")
def test_a_call_that_returned_nothing_at_all_still_counts_as_succeeded(store):
    conversation_id = store.create_conversation()
    node_id = ask(store, conversation_id, "Say nothing.", [])
    node = store.node(node_id)
    assert (node.status, node.returned) == ("succeeded", [])


@pytest.mark.rule("S3")
def test_each_round_stores_only_what_it_newly_sends(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        first = turn.call("Q2")
        first.succeed([tool_call("c1")])
        second = turn.call([tool_result("c1")])
        second.succeed("A2")
    assert store.node(first.id).sent == [user("Q2")]
    assert store.node(first.id).returned == [tool_call("c1")]
    assert store.node(second.id).sent == [tool_result("c1")]
    assert len(second.context.items) == 5


@pytest.mark.rule("S5")
def test_ids_are_the_callers_own_where_given_and_sort_by_time_where_not(store):
    assert store.create_conversation(id="mine") == "mine"
    assert ask(store, "mine", "Q", "A", id="my node") == "my node"
    made = [ask(store, "mine", "Q", "A") for _ in range(5)]
    assert made == sorted(made)


@pytest.mark.rule("S5")
def test_a_conversation_made_twice_is_the_same_one_also_when_it_has_grown(store):
    store.create_conversation(id="mine", title="T", metadata={"a": 1})
    node_id = ask(store, "mine", "Q", "A")
    before = store.conversation("mine")
    assert store.create_conversation(id="mine", title="T", metadata={"a": 1}) == "mine"
    assert store.conversation("mine") == before
    assert before.cursor == node_id
    for title, metadata in (("Other", {"a": 1}), ("T", {"a": 2}), (None, {"a": 1})):
        with pytest.raises(errors.IdConflict, match="'mine'"):
            store.create_conversation(id="mine", title=title, metadata=metadata)


@pytest.mark.rule("S5")
def test_a_node_id_used_before_is_refused_with_other_content_or_another_parent(store):
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "Q1", "A1", id="n1")
    for question in ("Q1", "Q2"):
        with pytest.raises(errors.IdConflict, match="'n1'"):
            store.turn(conversation_id).call(question, id="n1")
    assert [node.id for node in store.tree(conversation_id)] == ["n1"]
    assert store.conversation(conversation_id).turn is None
    assert ask(store, conversation_id, "Q2", "A2", id="n2") == "n2"
    assert store.node("n2").parent_id == "n1"


@pytest.mark.rule("S5")
def test_a_correction_and_a_compaction_repeated_by_id_change_nothing(store):
    conversation_id, (node_id,) = talk(store, ("Q", "A"))
    for _ in range(2):
        assert store.correct(conversation_id, "Better.", node_id=node_id, id="c1") == "c1"
    with pytest.raises(errors.IdConflict):
        store.correct(conversation_id, "Worse.", node_id=node_id, id="c1")
    for _ in range(2):
        assert store.compact(conversation_id, "Summary.", expected="c1", id="k1") == "k1"
    with pytest.raises(errors.IdConflict):
        store.compact(conversation_id, "Another.", expected="c1", id="k1")
    assert len(store.tree(conversation_id)) == 3
    assert [move.reason for move in store.moves(conversation_id)] == ["turn", "correct", "compaction"]


@pytest.mark.rule("S5")
@pytest.mark.parametrize("bad", ["x" * 513, "nul\x00", "line\nbreak", "half \ud800", 7])
def test_an_id_that_can_not_be_one_is_refused_by_every_verb_that_makes_one(store, bad):
    conversation_id, (node_id,) = talk(store, ("Q", "A"))
    for make in (
        lambda: store.in_workspace(bad),
        lambda: store.create_conversation(id=bad),
        lambda: store.turn(conversation_id).call("Q", id=bad),
        lambda: store.correct(conversation_id, "A", id=bad),
        lambda: store.compact(conversation_id, "S", id=bad),
        lambda: store.fork(node_id, id=bad),
    ):
        with pytest.raises(errors.InvalidInput):
            make()
    assert len(store.tree(conversation_id)) == 1


@pytest.mark.rule("S5")
@pytest.mark.parametrize("name", ["nowhere", "nul\x00", "half \ud800"])
def test_what_does_not_exist_is_refused_by_name(store, name):
    missing = (errors.NotFound, errors.InvalidInput)
    for read in (
        lambda: store.conversation(name),
        lambda: store.context(name),
        lambda: store.path(name),
        lambda: store.tree(name),
        lambda: store.moves(name),
        lambda: store.markers(name),
        lambda: store.unseen_branches(name),
        lambda: store.dismiss(name, "n"),
        lambda: store.turn(name).call("Q"),
        lambda: store.compact(name, "S"),
        lambda: store.node(name),
        lambda: store.context(node_id=name),
        lambda: store.path(node_id=name),
        lambda: store.fork(name),
    ):
        with pytest.raises(missing, match=r"nowhere|nul|half"):
            read()


@pytest.mark.rule("S5")
def test_a_node_of_no_such_name_is_refused_by_every_verb_that_branches(store):
    conversation_id, _ = talk(store, ("Q", "A"))
    for branch in (
        lambda: store.switch(conversation_id, "nowhere"),
        lambda: store.edit(conversation_id, "nowhere", "Q"),
        lambda: store.regenerate(conversation_id, "nowhere"),
        lambda: store.correct(conversation_id, "A", node_id="nowhere"),
        lambda: store.markers(conversation_id, node_id="nowhere"),
    ):
        with pytest.raises(errors.NodeNotFound, match="nowhere"):
            branch()


@pytest.mark.rule("S1")
def test_a_mistyped_option_is_refused_rather_than_ignored(store):
    conversation_id = store.create_conversation()
    with pytest.raises(TypeError, match="sytem"):
        store.turn(conversation_id).call("Q", sytem="Be brief.")


@pytest.mark.rule("S1", "S2")
@pytest.mark.parametrize(
    "items",
    [
        [{"role": "user"}],
        [{"type": "tool_call", "call_id": "c", "name": "f", "arguments": {}}],
        [{"type": "tool_result", "output": "x"}],
        ["text"],
        b'{"type": "message"}',
        b"[1,",
        [{"type": "message", "role": "user", "content": float("nan")}],
        [{"type": "x", "value": {1, 2}}],
        [{"type": "x", "value": float("inf")}],
    ],
)
def test_what_is_no_item_is_refused_and_nothing_is_stored(store, items):
    conversation_id = store.create_conversation()
    with pytest.raises(errors.InvalidInput):
        store.turn(conversation_id).call(items)
    assert store.tree(conversation_id) == []
    assert store.conversation(conversation_id).turn is None
