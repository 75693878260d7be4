"""Side jobs on a conversation: validated drafts in a line of their own, and a conversation that doesn't notice."""

from __future__ import annotations

import pytest
from conversing import answered, ask, assistant, said, talk, user

from graphstore import Draft, NodeKind, Status
from graphstore.errors import CallInProgress, ConversationGone, InvalidInput, NodeNotFound, RetriesExhausted


def needs(word: str):
    """A validation: the draft must hold the word."""
    return lambda items: [] if word in items[0]["content"] else [f"the word {word} is missing"]


@pytest.mark.rule("V1")
def test_each_retry_is_the_child_of_the_attempt_before_and_is_told_what_was_wrong(store):
    conversation_id, (_, last) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    drafts = iter(["nothing", "still nothing", "a playbook"])
    contexts = []

    def generate(context):
        contexts.append(said(context))
        return next(drafts)

    with store.conversion(conversation_id, system="Make a playbook.", model="m") as job:
        accepted = job.run("Go on", generate, needs("playbook"))
    assert accepted == [assistant("a playbook")]
    assert contexts[0] == ["Q1", "A1", "Q2", "A2", "Go on"]
    told = "The draft was not accepted:\n- the word playbook is missing\nSend a corrected one."
    assert contexts[2] == [*contexts[0], "nothing", told, "still nothing", told]
    nodes = [store.node(call.id) for call in job.calls]
    assert [node.parent_id for node in nodes] == [last, nodes[0].id, nodes[1].id]
    assert {node.kind for node in nodes} == {NodeKind.CONVERSION}
    assert {node.status for node in nodes} == {Status.SUCCEEDED}, "a draft that is not valid is a succeeded call"
    assert {node.model for node in nodes} == {"m"}
    assert job.current.context.settings.system == "Make a playbook."
    assert store.context(conversation_id).settings.system is None


@pytest.mark.rule("V1")
def test_after_the_last_retry_the_job_says_what_is_still_wrong_and_keeps_the_drafts(store):
    conversation_id, _ = talk(store, ("Q", "A"))
    with store.conversion(conversation_id, retries=2) as job, pytest.raises(RetriesExhausted) as refused:
        job.run("Go on", lambda _: "nothing", needs("playbook"))
    assert refused.value.attempts == 3
    assert refused.value.errors == ("the word playbook is missing",)
    assert refused.value.node_id == job.calls[2].id
    assert len(job.calls) == 3
    with store.conversion(conversation_id, retries=0) as job:
        job.call("Go on").succeed("nothing")
        with pytest.raises(RetriesExhausted):
            job.call("Again")


@pytest.mark.rule("V1", "V2")
def test_drafts_are_in_no_later_context_and_the_cursor_does_not_move(store, new_process_store):
    conversation_id, (last,) = talk(store, ("Q1", "A1"))
    before = store.conversation(conversation_id)
    with store.conversion(conversation_id) as job:
        job.run("Go on", lambda _: "a draft", lambda _: [])
    after = store.conversation(conversation_id)
    assert (after.cursor, after.version) == (last, before.version)
    assert len(store.moves(conversation_id)) == 1
    for reader in (store, new_process_store()):
        assert said(reader.context(conversation_id)) == ["Q1", "A1"]
    ask(store, conversation_id, "Q2", "A2")
    assert said(new_process_store().context(conversation_id)) == ["Q1", "A1", "Q2", "A2"]


@pytest.mark.rule("V2", "C5")
def test_a_side_job_takes_no_turn_and_blocks_none(store):
    conversation_id, (first,) = talk(store, ("Q1", "A1"))
    with store.conversion(conversation_id) as job:
        call = job.call("Go on")
        assert store.conversation(conversation_id).turn is None
        with store.turn(conversation_id) as turn:
            turn.call("Q2").succeed("A2")
            with store.conversion(conversation_id) as second:
                assert said(second.call("Go on").context) == ["Q1", "A1", "Go on"], "the turn has not ended"
                second.current.succeed("another draft")
            assert store.conversation(conversation_id).turn.turn_id == turn.id
        call.succeed("a draft")
        job.call("Once more").succeed("a better one")
    assert said(store.context(conversation_id)) == ["Q1", "A1", "Q2", "A2"]
    assert store.node(job.calls[0].id).parent_id == first
    assert store.unseen_branches(conversation_id) == []


@pytest.mark.rule("V2", "B4", "B5")
def test_a_side_job_is_no_sibling_and_no_branch(store):
    conversation_id, (first, _) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    again = answered(store.regenerate(conversation_id, first), "A1 again")
    with store.conversion(conversation_id) as job:
        job.run("Go on", lambda _: "a draft", lambda _: [])
    (line,) = store.conversations()
    assert line.branches == 2
    ask(store, conversation_id, "Q2 again", "A2 again")
    assert [(m.position, m.count) for m in store.markers(conversation_id)] == [(2, 2), (1, 1)]
    (line,) = store.conversations()
    assert line.branches == 2
    assert line.nodes == 5
    store.switch(conversation_id, first)
    assert store.switch(conversation_id, again) != job.current.id
    for verb in (store.switch, store.regenerate):
        with pytest.raises((NodeNotFound, InvalidInput)):
            verb(conversation_id, job.current.id)


@pytest.mark.rule("V1", "F1")
def test_a_failed_attempt_is_followed_by_the_next_and_an_exception_fails_the_pending_one(store):
    conversation_id, (last,) = talk(store, ("Q1", "A1"))
    with store.conversion(conversation_id) as job:
        job.call("Go on").fail("rate_limit", "slow down")
        with pytest.raises(CallInProgress):
            job.call() and job.call()
        job.current.succeed("a draft")
        assert store.node(job.current.id).parent_id == job.calls[0].id
    with pytest.raises(InvalidInput):
        job.call("after its end")

    def breaks(_):
        raise RuntimeError("no network")

    with pytest.raises(RuntimeError), store.conversion(conversation_id) as job:
        job.run("Go on", breaks, lambda _: [])
    assert store.node(job.current.id).failure.message == "RuntimeError: no network"
    assert store.conversation(conversation_id).cursor == last


@pytest.mark.rule("V1", "U1")
def test_what_a_draft_cost_is_recorded_with_it(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.conversion(conversation_id) as job:
        job.run("Go on", lambda _: Draft("a draft", usage={"input_tokens": 7}, response_id="r-1"), lambda _: [])
    node = store.node(job.current.id)
    assert (node.usage.input_tokens, node.response_id) == (7, "r-1")


@pytest.mark.rule("V1", "X1")
def test_a_conversation_about_the_result_is_a_fork_at_its_last_draft(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.conversion(conversation_id) as job:
        job.run("Go on", lambda _: "a playbook", lambda _: [])
    editing = store.fork(job.current.id)
    ask(store, editing, "Shorter", "a short playbook")
    assert said(store.context(editing)) == ["Q1", "A1", "Go on", "a playbook", "Shorter", "a short playbook"]
    assert said(store.context(conversation_id)) == ["Q1", "A1"]
    assert [(m.position, m.count) for m in store.markers(editing)] == [(1, 1), (1, 1)]


@pytest.mark.rule("V1", "X3")
def test_a_job_that_began_before_a_clear_learns_it_and_leaves_nothing(store, cypher):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    job = store.conversion(conversation_id)
    call = job.call("Go on")
    store.clear(conversation_id)
    with pytest.raises(ConversationGone):
        call.succeed("a draft")
    with pytest.raises(InvalidInput, match="empty"):
        store.conversion(conversation_id).call("Go on")
    assert cypher("MATCH (n:Node {workspace: $workspace}) RETURN count(n) AS n") == [{"n": 0}]


@pytest.mark.rule("V1")
def test_what_makes_no_sense_for_a_side_job_is_refused(store):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with pytest.raises(InvalidInput, match="retries"):
        store.conversion(conversation_id, retries=-1)
    with pytest.raises(InvalidInput, match="one call"):
        store.conversion(conversation_id, id="x")
    with store.conversion(conversation_id) as job:
        job.call([user("Go on")], id="my own").succeed("a draft")
        with pytest.raises(InvalidInput, match="compact"):
            job.compact("a summary")
    assert store.node("my own").kind is NodeKind.CONVERSION
