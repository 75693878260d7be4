"""What reaches the outside: approved, claimed once, on the accepted path only, and listed when it is left behind."""

from __future__ import annotations

import pytest
from conversing import answered, ask, talk

from graphstore import EffectStatus
from graphstore.errors import (
    ConversationGone,
    ConversationNotFound,
    EffectNotFound,
    EffectRefused,
    IdConflict,
    InvalidInput,
    NodeNotFound,
)

UNDO = {"tool": "delete_ticket", "ticket": 7}


@pytest.fixture
def effects(store):
    return store.effects


def refused(verb, *arguments, **more) -> str:
    with pytest.raises(EffectRefused) as error:
        verb(*arguments, **more)
    return error.value.reason


@pytest.mark.rule("T2")
def test_an_effect_goes_from_proposed_to_compensated_and_keeps_who_and_when(store, effects):
    conversation_id, (node,) = talk(store, ("Open a ticket", "Shall I?"))
    effect_id = effects.propose(node, "open_ticket", {"title": "Ä", "n": 1}, reversible=True, compensation=UNDO)
    proposed = effects.get(effect_id)
    assert (proposed.status, proposed.node_id, proposed.arguments) == ("proposed", node, {"title": "Ä", "n": 1})
    assert proposed.conversation_id == conversation_id
    effects.approve(effect_id, by="ann")
    claimed = effects.claim(effect_id, "worker 1")
    assert (claimed.status, claimed.worker, claimed.decided_by) == ("approved", "worker 1", "ann")
    effects.finish(effect_id, "done", {"ticket": 7})
    effects.compensate(effect_id, "deleted")
    (last,) = effects.of(conversation_id)
    assert last == effects.get(effect_id)
    assert (last.status, last.result, last.compensation_result) == ("compensated", {"ticket": 7}, "deleted")
    times = [last.proposed_at, last.decided_at, last.claimed_at, last.finished_at, last.compensated_at]
    assert times == sorted(times)


@pytest.mark.rule("T2", "S5")
def test_every_step_may_be_repeated_and_a_different_one_is_refused(store, effects):
    _, (node, other) = talk(store, ("Q", "A"), ("Q", "A"))
    for _ in range(2):
        assert effects.propose(node, "send", {"to": "x"}, id="e-1") == "e-1"
    for arguments in ((other, "send", {"to": "x"}), (node, "send", {"to": "y"}), (node, "sent", {"to": "x"})):
        with pytest.raises(IdConflict):
            effects.propose(*arguments, id="e-1")
    for _ in range(2):
        effects.approve("e-1")
    assert refused(effects.reject, "e-1") == "state"
    for _ in range(2):
        effects.claim("e-1", "w", claim_id="claim")
    assert refused(effects.claim, "e-1", "w") == "claimed"
    for _ in range(2):
        effects.finish("e-1", "done", 1)
    assert refused(effects.finish, "e-1", "done", 2) == "finished"
    assert refused(effects.finish, "e-1", "failed") == "state"
    for _ in range(2):
        effects.compensate("e-1")
    assert refused(effects.claim, "e-1", "late") == "claimed"


@pytest.mark.rule("T2")
def test_an_irreversible_effect_must_be_approved_and_a_rejected_one_is_never_claimed(store, effects):
    _, (node,) = talk(store, ("Q", "A"))
    effect_id = effects.propose(node, "send_mail")
    assert refused(effects.claim, effect_id, "w") == "not_approved"
    assert refused(effects.finish, effect_id, "done") == "unclaimed"
    effects.reject(effect_id)
    assert refused(effects.claim, effect_id, "w") == "state"
    undoable = effects.propose(node, "draft_mail", reversible=True)
    assert effects.claim(undoable, "w").status is EffectStatus.PROPOSED
    assert refused(effects.approve, undoable) == "claimed"
    effects.finish(undoable, "failed", "no network")
    assert effects.get(undoable).result == "no network"


@pytest.mark.rule("T2")
def test_an_irreversible_effect_is_claimed_only_while_its_node_is_on_the_path(store, effects):
    conversation_id, (first, second) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    effect_id = effects.propose(second, "send_mail")
    effects.approve(effect_id)
    again = answered(store.regenerate(conversation_id), "A2 again")
    assert refused(effects.claim, effect_id, "w") == "off_path"
    assert not effects.get(effect_id).on_path
    assert effects.get(effect_id).claim_id is None
    undoable = effects.propose(second, "draft_mail", reversible=True)
    assert not effects.claim(undoable, "w").on_path
    store.switch(conversation_id, second)
    assert effects.claim(effect_id, "w").on_path
    assert {again, first}.isdisjoint({effect.node_id for effect in effects.of(conversation_id)})


@pytest.mark.rule("T2")
def test_in_the_middle_of_its_turn_an_effect_is_on_the_path(store, effects):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    with store.turn(conversation_id) as turn:
        turn.call("Send it").succeed("Sending")
        effect_id = effects.propose(turn.current.id, "send_mail")
        effects.approve(effect_id)
        turn.compact("so far")
        turn.call("the result is due")
        assert effects.claim(effect_id, "w").on_path
        turn.current.succeed("Sent")
    assert effects.get(effect_id).on_path


@pytest.mark.rule("T2", "C6", "C7")
def test_a_dead_turns_effect_counts_once_it_is_settled_and_a_lost_races_does_not(store, effects, cypher):
    conversation_id, _ = talk(store, ("Q1", "A1"))
    dead = store.turn(conversation_id)
    effect_id = effects.propose(dead.call("Send it").id, "send_mail")
    effects.approve(effect_id)
    cypher("MATCH (c:Conversation {workspace: $workspace}) SET c.turn_expires_at = datetime() RETURN 1 AS done")
    assert effects.claim(effect_id, "w").on_path
    assert store.conversation(conversation_id).cursor == dead.current.id

    beside = store.turn(conversation_id, exclusive=False)
    of_loser = effects.propose(beside.call("Send another").id, "send_mail")
    effects.approve(of_loser)
    assert refused(effects.claim, of_loser, "w") == "off_path"


@pytest.mark.rule("T2", "X1")
def test_an_effect_on_a_shared_prefix_belongs_to_the_conversation_that_owns_its_node(store, effects):
    conversation_id, (_, second) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    effect_id = effects.propose(second, "send_mail")
    effects.approve(effect_id)
    fork = store.fork(second)
    answered(store.regenerate(conversation_id), "A2 again")
    assert effects.of(fork) == []
    assert refused(effects.claim, effect_id, "w") == "off_path", "the fork stands on it, but its owner has left it"
    store.delete_conversation(conversation_id)
    assert effects.claim(effect_id, "w").conversation_id == fork
    assert [effect.id for effect in effects.of(fork)] == [effect_id]


@pytest.mark.rule("T3")
def test_what_was_done_on_a_branch_left_behind_is_listed_with_what_undoes_it(store, effects):
    conversation_id, (first, second) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    ids = {}
    for node, name in ((first, "on the path"), (second, "done"), (second, "undone"), (second, "only approved")):
        ids[name] = effects.propose(node, name, compensation=UNDO)
        effects.approve(ids[name])
        if name != "only approved":
            effects.claim(ids[name], "w")
            effects.finish(ids[name], "done")
    effects.compensate(ids["undone"])
    assert effects.left_behind(conversation_id) == []
    again = answered(store.regenerate(conversation_id), "A2 again")
    (left,) = effects.left_behind(conversation_id)
    assert (left.id, left.compensation, left.status) == (ids["done"], UNDO, "done"), "a switch undoes nothing"
    ask(store, conversation_id, "Q3", "A3")
    assert effects.left_behind(conversation_id, from_node=second) == [left]
    assert effects.left_behind(conversation_id, from_node=again) == []
    store.switch(conversation_id, second)
    assert effects.left_behind(conversation_id) == []


@pytest.mark.rule("T2", "X2", "X3", "S6")
def test_deletion_takes_effects_with_their_nodes(store, effects, cypher):
    conversation_id, (first, second) = talk(store, ("Q1", "A1"), ("Q2", "A2"))
    effect_id = effects.propose(second, "send_mail")
    answered(store.regenerate(conversation_id), "A2 again")
    store.tombstone(second)
    with pytest.raises(NodeNotFound):
        effects.propose(second, "another")
    store.purge(second)
    with pytest.raises(EffectNotFound):
        effects.get(effect_id)
    for verb in (effects.approve, effects.compensate):
        with pytest.raises(EffectNotFound):
            verb(effect_id)
    effects.propose(first, "send_mail")
    store.clear(conversation_id)
    assert effects.of(conversation_id) == []
    effects.propose(ask(store, conversation_id, "Q", "A"), "send_mail")
    store.delete_conversation(conversation_id)
    assert cypher("MATCH (e:Effect {workspace: $workspace}) RETURN count(e) AS n") == [{"n": 0}]
    with pytest.raises(ConversationNotFound):
        effects.of(conversation_id)


@pytest.mark.rule("T2", "X2")
def test_erasure_blanks_what_an_effect_was_to_do(store, effects):
    conversation_id, (node,) = talk(store, ("Q1", "A1"))
    effect_id = effects.propose(node, "send_mail", {"to": "ann@example.com"}, compensation={"tell": "ann"})
    effects.approve(effect_id)
    effects.claim(effect_id, "w")
    effects.finish(effect_id, "done", "sent to ann")
    store.fork(node)
    store.delete_conversation(conversation_id, on_shared="erase")
    left = effects.get(effect_id)
    assert (left.name, left.status, left.arguments) == ("send_mail", "done", {})
    assert (left.compensation, left.result) == (None, None)


@pytest.mark.rule("T2", "S8")
def test_effects_of_another_workspace_are_not_there(store, other_store, effects):
    _, (node,) = talk(store, ("Q", "A"))
    effect_id = effects.propose(node, "send_mail", id="same")
    other = other_store.effects
    for verb in (other.get, other.approve, other.reject, other.compensate):
        with pytest.raises(EffectNotFound):
            verb(effect_id)
    with pytest.raises(EffectNotFound):
        other.claim(effect_id, "w")
    _, (of_other,) = talk(other_store, ("Q", "A"))
    assert other.propose(of_other, "send_mail", id="same") == effect_id
    with pytest.raises(NodeNotFound):
        other.propose(node, "send_mail")


@pytest.mark.rule("T2")
def test_a_claim_in_a_conversation_that_is_being_deleted_and_wrong_words_are_refused(store, effects, cypher):
    _, (node,) = talk(store, ("Q", "A"))
    effect_id = effects.propose(node, "send_mail", reversible=True)
    with pytest.raises(InvalidInput):
        effects.finish(effect_id, "approved")
    with pytest.raises(InvalidInput):
        effects.propose(node, "send_mail", ["not an object"])
    cypher("MATCH (c:Conversation {workspace: $workspace}) SET c.deleting = true RETURN 1 AS done")
    with pytest.raises(ConversationGone):
        effects.claim(effect_id, "w")
    with pytest.raises(NodeNotFound):
        effects.propose(node, "send_mail")
