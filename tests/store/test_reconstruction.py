"""What a model saw, and what a user saw at a time (rules R1, R2)."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conversing import answered, ask, said, talk, tool_call, tool_result

from graphstore import errors

EXPORT = Path(__file__).parents[2] / "graphstore" / "cli" / "demo" / "conversations.json"


def texts(seen):
    return [bubble.content["text"] for bubble in seen.bubbles]


def now(cypher):
    """The server's clock, which is what moves and bubbles are dated by."""
    time.sleep(0.01)
    at = cypher("RETURN datetime.realtime() AS at, $workspace AS workspace")[0]["at"].to_native()
    time.sleep(0.01)
    return at


class TestModel:
    @pytest.mark.rule("R1")
    def test_the_context_of_every_call_is_put_together_again_byte_by_byte(self, store, new_process_store):
        """Prompt, tools, format and parameters too, and whatever happened to the conversation since."""
        conversation_id = store.create_conversation()
        made = {}
        with store.turn(conversation_id) as turn:
            call = turn.call(
                "Q1",
                provider="openai",
                model="gpt-5",
                system="be brief",
                tools=[{"name": "search"}],
                response_format={"type": "json_schema", "n": 1.50},
                parameters={"temperature": 0.1},
            )
            made[call.id] = call.context
            call.succeed([tool_call("c1")])
            call = turn.call([tool_result("c1", "found \ud83d")], provider="openai", model="gpt-5")
            made[call.id] = call.context
            call.succeed("A1")
        turn = store.edit(conversation_id, call.id, "Q1b", system="be long", tools=None)
        made[turn.current.id] = turn.current.context
        answered(turn, "A1b")
        with store.turn(conversation_id) as turn:
            call_2 = turn.call("Q2")
            made[call_2.id] = call_2.context
            call_2.fail("rate_limit")
        store.switch(conversation_id, call.id)
        for reader in (store, new_process_store()):
            for node_id, sent in made.items():
                saw = reader.saw_by_model(node_id)
                assert saw.verdict == "same"
                assert saw.context.body == sent.body
                assert saw.context.render("openai-chat") == sent.render("openai-chat")
                assert (saw.context.settings.system, saw.context.settings.tools) == (
                    sent.settings.system,
                    sent.settings.tools,
                )
                assert saw.context.settings.response_format == sent.settings.response_format
        first = store.saw_by_model(next(iter(made)))
        assert (first.provider, first.model, first.parameters) == ("openai", "gpt-5", {"temperature": 0.1})

    @pytest.mark.rule("R1", "K2")
    def test_a_compaction_is_read_or_unfolded_as_the_call_did_then(self, store):
        conversation_id, _ = talk(store, ("Q1", "A1"))
        store.compact(conversation_id, "summary", readers=["openai"])
        read = ask(store, conversation_id, "Q2", "A2", provider="openai")
        unfolded = ask(store, conversation_id, "Q3", "A3", provider="anthropic", model="claude")
        assert said(store.saw_by_model(read).context) == ["summary", "Q2"]
        assert said(store.saw_by_model(unfolded).context) == ["Q1", "A1", "Q2", "A2", "Q3"]
        assert {store.saw_by_model(node).verdict for node in (read, unfolded)} == {"same"}

    @pytest.mark.rule("R1")
    def test_an_answer_that_came_after_the_call_is_no_part_of_what_its_model_saw(self, store):
        conversation_id = store.create_conversation()
        dead = store.turn(conversation_id, lease_seconds=0.05)
        lost = dead.call("Q1")
        time.sleep(0.1)
        after = ask(store, conversation_id, "Q2", "A2")
        with pytest.raises(errors.TurnLost):
            lost.succeed("late answer")
        assert said(store.context(conversation_id)) == ["Q1", "late answer", "Q2", "A2"]
        saw = store.saw_by_model(after)
        assert (said(saw.context), saw.verdict, saw.late) == (["Q1", "Q2"], "same", (lost.id,))

    @pytest.mark.rule("R1")
    def test_a_difference_is_reported_and_the_context_given_all_the_same(self, store, cypher):
        _, nodes = talk(store, ("Q1", "A1"), ("Q2", "A2"), ("Q3", "A3"))
        other = """[{"type":"message","role":"assistant","content":"changed"}]"""
        cypher("MATCH (n:Node {workspace: $workspace, id: $id}) SET n.returned = $other", id=nodes[0], other=other)
        assert [store.saw_by_model(node).verdict for node in nodes] == ["same", "different", "different"]
        saw = store.saw_by_model(nodes[2])
        assert said(saw.context) == ["Q1", "changed", "Q2", "A2", "Q3"]
        assert saw.recorded_hash == store.node(nodes[2]).context_hash != saw.context.hash
        assert saw.erased == ()

    @pytest.mark.rule("R1", "X2")
    def test_an_erased_prefix_explains_a_difference(self, store):
        origin, nodes = talk(store, ("secret", "A1"))
        fork = store.fork(nodes[0])
        node = ask(store, fork, "Q2", "A2")
        store.delete_conversation(origin, on_shared="erase")
        saw = store.saw_by_model(node)
        assert (saw.verdict, saw.erased, said(saw.context)) == (
            "different",
            (nodes[0],),
            ["[erased]", "[erased]", "Q2"],
        )

    @pytest.mark.rule("R1")
    def test_imports_and_compactions_say_that_no_fingerprint_was_stored(self, store):
        (outcome, *_) = store.import_file(EXPORT)
        imported = store.path(outcome.conversation_id)[-1]
        saw = store.saw_by_model(imported.id)
        assert (saw.verdict, saw.recorded_hash, saw.late) == ("unrecorded", None, ())
        assert saw.context.nodes[-1] == imported.id
        assert saw.context.items[-len(imported.sent) :] == imported.sent
        conversation_id, _ = talk(store, ("Q1", "A1"))
        folded = store.compact(conversation_id, "summary", sent="summarise: Q1, A1")
        saw = store.saw_by_model(folded)
        assert (said(saw.context), saw.verdict) == (["summarise: Q1, A1"], "unrecorded")

    @pytest.mark.rule("R1", "V1")
    def test_each_attempt_of_a_side_job_saw_the_ones_before_it(self, store):
        conversation_id, _ = talk(store, ("Q1", "A1"))
        with store.conversion(conversation_id) as job:
            job.call("convert").succeed("draft 1")
            second = job.call("no, better")
            second.succeed("draft 2")
        saw = store.saw_by_model(second.id)
        assert (said(saw.context), saw.verdict) == (["Q1", "A1", "convert", "draft 1", "no, better"], "same")

    @pytest.mark.rule("R1", "F4", "A4")
    def test_what_was_left_out_then_is_left_out_again_with_its_reason_and_nothing_is_logged(self, store, caplog):
        conversation_id = store.create_conversation()
        with store.turn(conversation_id) as turn:
            turn.call("Q1").succeed([tool_call("open")], finish_reason="cancelled")
        node = ask(store, conversation_id, "Q2", "A2")
        with caplog.at_level(logging.WARNING, "graphstore"):
            saw = store.saw_by_model(node)
        assert (saw.verdict, said(saw.context)) == ("same", ["Q1", "Q2"])
        assert (len(saw.context.expected), saw.context.warnings, caplog.records) == (1, [], [])

    @pytest.mark.rule("R1", "S8")
    def test_another_workspaces_call_is_not_found(self, store, other_store):
        _, (node,) = talk(store, ("Q1", "A1"))
        with pytest.raises(errors.NodeNotFound):
            other_store.saw_by_model(node)


class TestUser:
    @pytest.mark.rule("R2", "C4")
    def test_the_screen_is_that_of_the_path_the_cursor_was_on_with_the_bubbles_of_then(self, store, cypher):
        start = now(cypher)
        conversation_id = store.create_conversation()
        times, nodes = [now(cypher)], []
        for n in (1, 2):
            nodes.append(ask(store, conversation_id, f"Q{n}", f"A{n}"))
            store.add_bubble(nodes[-1], f"A{n}")
            times.append(now(cypher))
        edited = answered(store.edit(conversation_id, nodes[0], "Q1b"), "A1b")
        store.add_bubble(edited, "A1b")
        times.append(now(cypher))
        store.switch(conversation_id, nodes[1])
        store.add_bubble(nodes[0], "a note added later")
        times.append(now(cypher))
        seen = [store.saw_by_user(conversation_id, at) for at in times]
        assert [texts(one) for one in seen] == [
            [],
            ["A1"],
            ["A1", "A2"],
            ["A1b"],
            ["A1", "a note added later", "A2"],
        ]
        assert [one.path for one in seen] == [(), (nodes[0],), tuple(nodes), (edited,), tuple(nodes)]
        assert store.saw_by_user(conversation_id, start).node_id is None
        assert store.saw_by_user(conversation_id, times[2].replace(tzinfo=None)) == seen[2]

    @pytest.mark.rule("R2", "C4")
    def test_a_refused_move_showed_nobody_anything(self, store, cypher):
        conversation_id, _ = talk(store, ("Q1", "A1"))
        loser = store.turn(conversation_id, exclusive=False)
        losing = loser.call("Q2")
        ask(store, conversation_id, "Q2b", "A2b")
        with pytest.raises(errors.CursorMoved):
            losing.succeed("A2", end_turn=True)
        seen = store.saw_by_user(conversation_id, now(cypher))
        assert losing.id not in seen.path
        assert seen.node_id == store.conversation(conversation_id).cursor

    @pytest.mark.rule("R2", "X3")
    def test_what_was_removed_since_is_said_to_be_gone(self, store, cypher):
        conversation_id, (node,) = talk(store, ("Q1", "A1"))
        store.add_bubble(node, "A1")
        before = now(cypher)
        store.clear(conversation_id)
        seen = store.saw_by_user(conversation_id, before)
        assert (seen.node_id, seen.gone, seen.path, seen.bubbles) == (node, True, (), ())
        after = store.saw_by_user(conversation_id, now(cypher))
        assert (after.node_id, after.gone) == (None, False)

    @pytest.mark.rule("R2", "X1", "K1")
    def test_forks_and_compactions_show_the_whole_history_that_they_stand_on(self, store, cypher):
        origin, (node,) = talk(store, ("Q1", "A1"))
        store.add_bubble(node, "A1")
        fork = store.fork(node)
        store.compact(fork, "summary")
        at = now(cypher)
        ask(store, fork, "Q2", "A2")
        assert texts(store.saw_by_user(fork, at)) == ["A1"]
        store.delete_conversation(origin, on_shared="erase")
        seen = store.saw_by_user(fork, at)
        assert (texts(seen), seen.erased) == (["[erased]"], (node,))

    @pytest.mark.rule("R2")
    def test_a_user_of_no_conversation_saw_nothing_to_tell(self, store):
        with pytest.raises(errors.ConversationNotFound):
            store.saw_by_user("nowhere", datetime.now(UTC) + timedelta(days=1))
