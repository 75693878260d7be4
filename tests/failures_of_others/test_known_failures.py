"""What has gone wrong in other stores of conversations, in public, must not go wrong here. One test for each story."""

from __future__ import annotations

import pytest
from racing import ask

from graphstore import Context, GraphStore, Status, Turn
from graphstore.errors import BranchInUse, CursorMoved, IdConflict, NotFound


def said(context: Context) -> list[str]:
    return [item["content"] for item in context.items if item.get("type", "message") == "message"]


def talk(store: GraphStore, *questions: str) -> tuple[str, list[str]]:
    conversation_id = store.create_conversation()
    return conversation_id, [ask(store, conversation_id, q, f"Answer to {q}").id for q in questions]


def answered(turn: Turn, text: str, **settled: object) -> str:
    turn.current.succeed(text, end_turn=True, **settled)  # type: ignore[arg-type]
    return turn.current.id


@pytest.mark.rule("C3")
def test_two_writers_on_one_thread_and_neither_commit_is_out_of_reach(store: GraphStore) -> None:
    conversation_id, (start,) = talk(store, "Plan a trip")
    phone, laptop = (store.turn(conversation_id, exclusive=False) for _ in range(2))
    calls = [phone.call("By train"), laptop.call("By boat")]
    for call in calls:
        call.succeed("Gladly")
    laptop.end()
    with pytest.raises(CursorMoved) as refused:
        phone.end()
    assert refused.value.kept == calls[0].id
    assert {node.id for node in store.tree(conversation_id)} == {start, calls[0].id, calls[1].id}
    assert set(store.markers(conversation_id)[-1].siblings) == {calls[0].id, calls[1].id}
    assert store.switch(conversation_id, calls[0].id) == calls[0].id
    assert said(store.context(conversation_id))[-2:] == ["By train", "Gladly"]


@pytest.mark.rule("X1", "B3", "A2")
@pytest.mark.parametrize("before", [True, False], ids=["forked before the way back", "forked after it"])
def test_a_fork_does_not_bring_back_what_its_origin_went_back_from(store: GraphStore, before: bool) -> None:
    origin, nodes = talk(store, "One", "Two", "Three")
    fork = store.fork(nodes[0]) if before else ""
    new = answered(store.edit(origin, nodes[1], "Two, otherwise"), "Good")
    fork = fork or store.fork(new)
    wanted = ["One", "Answer to One"] + ([] if before else ["Two, otherwise", "Good"])
    assert said(store.context(fork)) == wanted
    ask(store, fork, "On", "Yes")
    assert said(store.context(fork)) == [*wanted, "On", "Yes"]
    assert not {nodes[1], nodes[2]} & {node.id for node in store.tree(fork)}


@pytest.mark.rule("K1", "X1", "U2")
def test_a_fork_of_a_compacted_conversation_has_the_summary_and_not_also_what_it_stands_for(store: GraphStore) -> None:
    origin, _ = talk(store, "One", "Two")
    summary = store.compact(origin, "They counted to two")
    after = ask(store, origin, "Three", "Four").id
    total = len(store.tree(origin))
    for at in (summary, after):
        fork = store.fork(at)
        texts = said(store.context(fork))
        assert texts[0] == "They counted to two"
        assert len(texts) == len(set(texts))
        assert "One" not in texts
        path = [node.id for node in store.path(fork)]
        assert len(path) == len(set(path))
        assert store.usage.of(fork).total.calls == 0, "a fork owns nothing yet"
    assert len(store.tree(origin)) == total, "and nothing was copied"


@pytest.mark.rule("X1", "B4", "A7")
def test_later_turns_of_the_origin_do_not_leak_into_its_fork(store: GraphStore) -> None:
    origin, nodes = talk(store, "One", "Two")
    fork = store.fork(nodes[0])
    assert said(store.context(fork)) == ["One", "Answer to One"]  # from here on this process holds it
    ask(store, origin, "A secret", "Kept")
    answered(store.regenerate(origin, nodes[1]), "Other")
    answered(store.edit(origin, nodes[0], "Another beginning"), "Well")
    assert said(store.context(fork)) == ["One", "Answer to One"]
    assert {node.id for node in store.tree(fork)} == {nodes[0]}
    assert [(marker.position, marker.count) for marker in store.markers(fork)] == [(1, 1)]


@pytest.mark.rule("K1", "K4", "S5")
def test_a_compaction_is_never_there_without_what_it_was_made_of(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, "One", "Two")
    other = store.create_conversation()
    with pytest.raises(NotFound):
        store.compact(conversation_id, "Of nothing", expected="a node that was never stored", id="wrong")
    with pytest.raises(CursorMoved):
        store.compact(conversation_id, "Of the past", expected=nodes[0], id="late")
    with pytest.raises(NotFound):
        store.node("wrong")
    assert store.unseen_branches(other) == []
    made = store.compact(conversation_id, "Of both")
    assert store.node(made).compacts_id == nodes[1]
    answered(store.edit(conversation_id, ask(store, conversation_id, "Three", "3").id, "Three b"), "3b")
    assert [node.id for node in store.path(conversation_id)][:3] == [*nodes, made]
    for node in store.tree(conversation_id):
        if node.kind == "compaction":
            assert node.compacts_id in {one.id for one in store.tree(conversation_id)}


@pytest.mark.rule("S3", "A4", "B1", "F1")
def test_a_tool_call_and_its_result_are_never_on_different_branches(store: GraphStore) -> None:
    conversation_id, (start,) = talk(store, "Hello")
    turn = store.turn(conversation_id)
    turn.call("What is the weather?").succeed(
        [{"type": "tool_call", "call_id": "w", "name": "weather", "arguments": "{}"}]
    )
    turn.call([{"type": "tool_result", "call_id": "w", "output": "rain"}]).fail("rate_limit")
    answered(store.regenerate(conversation_id), "Rain")
    answered(store.edit(conversation_id, turn.calls[0].id, "And tomorrow?"), "Sun")
    ends = [turn.calls[1].id, *(kid.id for kid in store.tree(conversation_id) if kid.parent_id == start)]
    for end in ends:
        context = store.context(node_id=end)
        calls = [item["call_id"] for item in context.items if item["type"] == "tool_call"]
        results = [item["call_id"] for item in context.items if item["type"] == "tool_result"]
        assert calls == results
    assert [item["output"] for item in store.context(node_id=ends[0]).items if item["type"] == "tool_result"] == [
        "rain"
    ]


@pytest.mark.rule("U2")
def test_forks_do_not_count_what_they_stand_on_again(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("Q").succeed("A", usage={"input_tokens": 100, "output_tokens": 10})
    forks = [store.fork(turn.current.id) for _ in range(3)]
    with store.turn(forks[0]) as more:
        more.call("Q2").succeed("A2", usage={"input_tokens": 200, "output_tokens": 20})
    everything = [store.usage.of(id).total for id in (conversation_id, *forks)]
    assert [one.calls for one in everything] == [1, 1, 0, 0]
    assert sum(one.usage.input_tokens for one in everything) == 300
    assert store.usage.of(forks[1]).inherited.usage.input_tokens == 100
    assert store.conversation(forks[2]).cursor == turn.current.id


@pytest.mark.rule("S5", "S1", "C5")
def test_a_retried_request_leaves_one_placeholder(store: GraphStore) -> None:
    conversation_id, (start,) = talk(store, "Hello")
    turn = store.turn(conversation_id)
    call = turn.call("Slow question", id="the call")
    for _ in range(3):  # the same request again, as a proxy or an impatient client sends it
        retried = Turn(store.session, conversation_id, owner=None, exclusive=True, lease_seconds=60, turn_id=turn.id)
        assert retried.call("Slow question", id="the call").id == call.id
        with pytest.raises(IdConflict):
            store.turn(conversation_id).call("Slow question", id="the call")
    placeholders = [node.id for node in store.tree(conversation_id) if node.status is Status.PENDING]
    assert placeholders == [call.id]
    for _ in range(2):
        call.succeed("At last", end_turn=True)
    assert [(node.id, node.parent_id) for node in store.path(conversation_id)] == [(start, None), (call.id, start)]


@pytest.mark.rule("B4", "B1", "B5")
def test_the_switcher_goes_on_counting_after_three_edits(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, "Hello", "Version 1")
    versions = [nodes[1]]
    for number in (2, 3, 4):
        versions.append(answered(store.edit(conversation_id, versions[-1], f"Version {number}"), "Well"))
        marker = store.markers(conversation_id)[-1]
        assert (marker.position, marker.count, marker.versions) == (number, number, number)
    for position in (3, 2, 1):  # all the way to the left, one arrow at a time
        left = store.markers(conversation_id)[-1].left
        assert left == versions[position - 1]
        store.switch(conversation_id, left)
        marker = store.markers(conversation_id)[-1]
        assert (marker.position, marker.count, marker.siblings) == (position, 4, tuple(versions))


@pytest.mark.rule("X2", "S6", "X1")
def test_taking_one_thread_away_leaves_its_forks_whole(store: GraphStore) -> None:
    origin, nodes = talk(store, "One", "Two", "Three")
    early, late = store.fork(nodes[0]), store.fork(nodes[1])
    nested = store.fork(ask(store, late, "Late", "Yes").id)
    before = {fork: said(store.context(fork)) for fork in (early, late, nested)}
    with pytest.raises(BranchInUse):
        store.tombstone(nodes[1])
    store.delete_conversation(origin)
    assert {fork: said(store.context(fork)) for fork in before} == before
    store.delete_conversation(late)
    assert {fork: said(store.context(fork)) for fork in (early, nested)} == {f: before[f] for f in (early, nested)}
    for fork in (early, nested):
        ask(store, fork, "On", "Yes")
        assert said(store.context(fork)) == [*before[fork], "On", "Yes"]
