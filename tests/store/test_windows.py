"""A context limited to its newest turns, or to a number of tokens."""

from __future__ import annotations

import pytest
from conversing import answered, ask, assistant, said, talk, tool_call, tool_result, user

from graphstore import GraphStore
from graphstore.errors import InvalidInput

pytestmark = pytest.mark.rule("W5")


def test_the_newest_turns_begin_at_their_first_node(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"), ("e", "f"))
    assert said(store.context(conversation_id, newest_turns=1)) == ["e", "f"]
    made = store.context(conversation_id, newest_turns=2, new_items="g")
    assert said(made) == ["c", "d", "e", "f", "g"]
    assert made.nodes == tuple(nodes[1:])
    assert made.window is not None
    assert (made.window.first_node_id, made.window.left_out, made.warnings) == (nodes[1], 1, [])
    for more in (3, 50):
        assert store.context(conversation_id, newest_turns=more).body == store.context(conversation_id).body


def test_all_rounds_of_a_turn_stay_together(store: GraphStore) -> None:
    conversation_id, _ = talk(store, ("a", "b"))
    with store.turn(conversation_id) as turn:
        turn.call("c").succeed([tool_call("1")])
        turn.call([tool_result("1")]).succeed("d")
    made = store.context(conversation_id, newest_turns=1)
    assert [item["type"] for item in made.items] == ["message", "tool_call", "tool_result", "message"]
    assert made.warnings == []


def test_a_call_is_not_cut_from_a_result_that_a_later_turn_sends(store: GraphStore) -> None:
    conversation_id, _ = talk(store, ("a", "b"))
    asking = ask(store, conversation_id, "c", [tool_call("1")])
    ask(store, conversation_id, [tool_result("1"), user("and?")], "d")
    made = store.context(conversation_id, newest_turns=1)
    assert made.nodes[0] == asking
    assert [item["type"] for item in made.items][:3] == ["message", "tool_call", "tool_result"]
    (note,) = made.warnings
    assert asking in note
    ask(store, conversation_id, "e", "f")
    assert said(store.context(conversation_id, newest_turns=1)) == ["e", "f"]


def test_an_unanswered_call_above_does_not_stretch_the_window(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "a", [tool_call("1")])
    with store.turn(conversation_id) as turn:
        turn.call("c").succeed([tool_call("1")])
        turn.call([tool_result("1")]).succeed("d")
    assert len(store.context(conversation_id, newest_turns=1).nodes) == 2, "the nearest call of that id is inside"


def test_a_compaction_is_no_turn_and_ends_what_a_window_can_reach(store: GraphStore) -> None:
    conversation_id, _ = talk(store, ("a", "b"))
    store.compact(conversation_id, [assistant("SUMMARY")])
    ask(store, conversation_id, "c", "d")
    assert said(store.context(conversation_id, newest_turns=1)) == ["c", "d"]
    assert said(store.context(conversation_id, newest_turns=2)) == ["SUMMARY", "c", "d"]


def test_an_unfolded_compaction_begins_nothing(store: GraphStore) -> None:
    conversation_id, _ = talk(store, ("a", "b"), ("c", "d"))
    store.compact(conversation_id, "SUMMARY", readers=["openai"])
    ask(store, conversation_id, "e", "f")
    assert said(store.context(conversation_id, newest_turns=2)) == ["c", "d", "e", "f"]
    assert said(store.context(conversation_id, newest_turns=1)) == ["e", "f"]


def test_a_budget_keeps_as_many_whole_turns_as_fit(store: GraphStore) -> None:
    conversation_id, _ = talk(store, *((f"question {i}", "x" * 400) for i in range(5)))
    whole = store.context(conversation_id)
    everything = store.context(conversation_id, max_tokens=len(whole.body))
    assert everything.body == whole.body
    made = store.context(conversation_id, max_tokens=300)
    assert said(made)[::2] == ["question 3", "question 4"]
    assert len(made.body) // 4 <= 300
    assert made.warnings == []


def test_a_tokenizer_counts_prompt_tools_and_new_items_too(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    ask(store, conversation_id, "a", "b", system="S" * 100)
    ask(store, conversation_id, "c", "d")
    turn = len(store.context(conversation_id, newest_turns=1).body) - 2
    room = turn + len('"' + "S" * 100 + '"')
    assert said(store.context(conversation_id, max_tokens=room, count_tokens=len)) == ["c", "d"]
    with pytest.raises(InvalidInput, match=f"newest turn needs about {room} tokens"):
        store.context(conversation_id, max_tokens=room - 1, count_tokens=len)
    with pytest.raises(InvalidInput, match="newest turn needs about"):
        store.context(conversation_id, max_tokens=room, count_tokens=len, new_items="n")


def test_when_even_the_newest_turn_does_not_fit_its_need_is_said(store: GraphStore) -> None:
    conversation_id, _ = talk(store, ("a", "b"), ("c", "x" * 4000))
    with pytest.raises(InvalidInput) as caught:
        store.context(conversation_id, max_tokens=500)
    needed = int(str(caught.value).split("about ")[1].split(" ")[0])
    assert said(store.context(conversation_id, max_tokens=needed))[0] == "c"
    with pytest.raises(InvalidInput):
        store.context(conversation_id, max_tokens=needed - 1)


def test_a_turn_is_begun_in_the_middle_only_when_the_budget_forces_it_and_that_is_said(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("x" * 4000).succeed("thinking aloud")
        second = turn.call("go on")
        second.succeed("done")
    made = store.context(conversation_id, max_tokens=200)
    assert made.nodes == (second.id,)
    (note,) = made.warnings
    assert "middle of a turn" in note


def test_an_empty_conversation_has_nothing_to_limit(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    assert store.context(conversation_id, newest_turns=1, new_items="a").items == [user("a")]
    with pytest.raises(InvalidInput):
        store.context(conversation_id, max_tokens=5, new_items="a" * 100)


@pytest.mark.parametrize(
    "wrong", [{"newest_turns": 0}, {"newest_turns": True}, {"max_tokens": -1}, {"max_tokens": "9"}, {"count_tokens": 7}]
)
def test_what_is_no_limit_is_refused(store: GraphStore, wrong) -> None:
    conversation_id, _ = talk(store, ("a", "b"))
    with pytest.raises(InvalidInput):
        store.context(conversation_id, **wrong)


@pytest.mark.rule("S1", "R1")
def test_a_call_records_its_window_and_what_its_model_saw_is_found_again(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"))
    with store.turn(conversation_id) as turn:
        first = turn.call("e", newest_turns=1)
        assert said(first.context) == ["c", "d", "e"]
        first.succeed([tool_call("1")])
        second = turn.call([tool_result("1")], newest_turns=1)
        assert said(second.context) == ["c", "d", "e"], "its own turn comes beside the newest"
        assert len(second.context.items) == 5
        second.succeed("f")
    assert store.node(first.id).options["window"] == {
        "newest_turns": 1, "max_tokens": None, "first_node_id": nodes[1],
    }  # fmt: skip
    for call in (first, second):
        saw = store.saw_by_model(call.id)
        assert saw.verdict == "same"
        assert saw.context.items == call.context.items
    whole = store.in_workspace(store.workspace).context(conversation_id)
    assert said(whole) == ["a", "b", "c", "d", "e", "f"], "nothing stored was cut"
    assert store.context(conversation_id).body == whole.body


@pytest.mark.rule("R1")
def test_a_first_call_under_a_limit_is_found_again(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    node = ask(store, conversation_id, "a", "b", max_tokens=1000)
    assert store.saw_by_model(node).verdict == "same"
    edited = answered(store.edit(conversation_id, node, "c", newest_turns=3), "d")
    assert store.saw_by_model(edited).verdict == "same"
