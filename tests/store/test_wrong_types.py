"""What can't be read back is refused before anything is written (rules S1, S5)."""

from __future__ import annotations

import math

import pytest
from conversing import ask, talk

from graphstore import errors

pytestmark = pytest.mark.rule("S1")


@pytest.mark.parametrize(
    "options",
    [
        {"provider": 5},
        {"model": 1.5},
        {"metadata": 5},
        {"metadata": [1]},
        {"metadata": "x"},
        {"tools": "abc"},
        {"tools": 5},
        {"tools": ["f"]},
        {"response_format": "json"},
        {"parameters": [1]},
        {"system": 5},
    ],
    ids=str,
)
def test_a_calls_options(store, options):
    conversation_id, _ = talk(store, ("Q", "A"))
    with store.turn(conversation_id) as turn, pytest.raises(errors.InvalidInput):
        turn.call("Q2", **options)
    with pytest.raises(errors.InvalidInput):
        store.regenerate(conversation_id, **options)
    assert len(store.tree(conversation_id)) == 1
    ask(store, conversation_id, "Q2", "A2")


@pytest.mark.parametrize(
    "result",
    [
        {"finish_reason": 5},
        {"response_id": 5},
        {"model": ["a"]},
        {"usage": 5},
        {"usage": {"input_tokens": 2**70}},
        {"usage": {"output_tokens": -1}},
        {"usage": {"input_tokens": "many"}},
    ],
    ids=str,
)
def test_a_completion_which_may_then_be_given_rightly(store, result):
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        call = turn.call("Q")
        with pytest.raises(errors.InvalidInput):
            call.succeed("A", **result)
        call.succeed("A", usage={"input_tokens": 3, "cents": 2})
    (node,) = store.path(conversation_id)
    assert (node.status, node.usage.input_tokens, node.usage.cents) == ("succeeded", 3, 2)


@pytest.mark.parametrize("metadata", [5, [1], "x"])
def test_metadata(store, metadata):
    conversation_id, (node,) = talk(store, ("Q", "A"))
    for write in (
        lambda: store.create_conversation(metadata=metadata),
        lambda: store.fork(node, metadata=metadata),
        lambda: store.correct(conversation_id, "B", metadata=metadata),
        lambda: store.compact(conversation_id, "B", metadata=metadata),
    ):
        with pytest.raises(errors.InvalidInput, match="metadata"):
            write()
    assert len(list(store.conversations())) == 1
    assert len(store.tree(conversation_id)) == 1


def test_titles_owners_leases_questions_readers_pages_and_ids(store):
    conversation_id, (node,) = talk(store, ("Q", "A"))
    for write in (
        lambda: store.create_conversation(title=5),
        lambda: store.create_conversation(id=""),
        lambda: store.create_conversation(id=[]),
        lambda: store.fork(node, title=5),
        lambda: store.turn(conversation_id, owner=5),
        lambda: store.turn(conversation_id, lease_seconds=math.nan),
        lambda: store.turn(conversation_id, lease_seconds=1e18),
        lambda: store.turn(conversation_id, lease_seconds=0),
        lambda: store.turn(conversation_id, lease_seconds="60"),
        lambda: store.edit(conversation_id, node, None),
        lambda: store.compact(conversation_id, "B", readers=[None]),
        lambda: store.list_conversations(limit=2.5),
    ):
        with pytest.raises(errors.InvalidInput):
            write()
    assert store.conversation(conversation_id).turn is None


def test_what_is_no_list_of_items_no_name_and_no_id(store):
    conversation_id, (node,) = talk(store, ("Q", "A"))
    circle: dict = {}
    circle["circle"] = circle
    for write in (
        lambda: store.turn(conversation_id).call(5),
        lambda: store.turn(conversation_id).call({"type": "message"}),
        lambda: store.turn(conversation_id).call("Q2", provider=[]),
        lambda: store.turn(conversation_id).call("Q2", model={}),
        lambda: store.turn(conversation_id).call([{"type": "message", "role": "user", "content": "x", "more": circle}]),
        lambda: store.create_conversation(metadata=circle),
        lambda: store.fork(2**70),
        lambda: store.fork({1: 2}),
        lambda: store.edit(conversation_id, node, "Q", id=circle),
    ):
        with pytest.raises(errors.InvalidInput):
            write()
    assert len(store.tree(conversation_id)) == 1


@pytest.mark.rule("S5")
def test_the_same_id_with_other_readers_or_metadata_is_refused(store):
    conversation_id, (node,) = talk(store, ("Q", "A"))
    corrected = store.correct(conversation_id, "B", node_id=node, metadata={"a": 1})
    assert store.correct(conversation_id, "B", node_id=node, metadata={"a": 1}, id=corrected) == corrected
    with pytest.raises(errors.IdConflict):
        store.correct(conversation_id, "B", node_id=node, metadata={"a": 2}, id=corrected)
    folded = store.compact(conversation_id, "S", readers=["openai"])
    for other in ({"readers": ["gemini"]}, {"model": "m"}, {"metadata": {"a": 1}}):
        with pytest.raises(errors.IdConflict):
            store.compact(conversation_id, "S", id=folded, **{"readers": ["openai"], **other})


@pytest.mark.rule("B5", "F2")
def test_a_call_that_overflowed_is_no_place_to_switch_to(store):
    conversation_id, (node,) = talk(store, ("Q", "A"))
    turn = store.turn(conversation_id)
    overflow = turn.call("huge")
    overflow.fail("context_overflow")
    with pytest.raises(errors.NodeNotFound):
        store.switch(conversation_id, overflow.id)
    assert store.conversation(conversation_id).cursor == node
