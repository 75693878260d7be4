"""Pairs out of conversations that were had through the public verbs."""

from __future__ import annotations

import json

import pytest

from graphstore.errors import CursorMoved, InvalidInput


@pytest.mark.rule("N1", "N2")
class TestChosenAndRejected:
    def test_a_regenerated_answer_is_chosen_over_the_one_it_replaced(self, talk, export):
        one = talk()
        one.ask("2+2?", "five")
        one.again("four")
        found = export()
        assert found.answers == [("four", "five")]
        assert found.rows[0]["prompt"] == [{"role": "user", "content": "2+2?"}]

    def test_a_conversation_without_branches_gives_nothing(self, talk, export):
        talk().ask("2+2?", "four")
        found = export()
        assert (found.rows, found.report.candidates) == ([], 0)

    def test_each_branch_point_on_the_path_gives_pairs_of_its_own(self, talk, export):
        one = talk()
        one.ask("q1", "a1 bad")
        one.again("a1")
        one.ask("q2", "a2 bad")
        one.again("a2")
        found = export()
        assert found.answers == [("a1", "a1 bad"), ("a2", "a2 bad")]
        assert found.rows[1]["prompt"] == [
            {"role": "user", "content": "q1"},
            {"role": "assistant", "content": "a1"},
            {"role": "user", "content": "q2"},
        ]

    def test_branch_points_inside_an_abandoned_branch_give_none(self, talk, export):
        one = talk()
        first = one.ask("q1", "left")
        one.ask("q2", "x")
        one.again("y")
        one.again("kept", first)
        found = export()
        assert found.answers == [("kept", "left")]

    def test_switching_back_turns_the_pair_around(self, talk, export, store):
        one = talk()
        older = one.ask("q", "older")
        one.again("newer")
        store.switch(one.id, older)
        found = export()
        assert found.answers == [("older", "newer")]
        assert found.rows[0]["choice_evidence"] == "returned_to_older"
        assert found.meta[0]["chosen_move"] == "switch"

    def test_an_answer_left_for_a_further_question_is_continued(self, talk, export):
        one = talk()
        one.ask("q", "bad")
        one.again("good")
        one.ask("and then?", "end")
        found = export()
        assert (found.rows[0]["choice_evidence"], found.rows[0]["evidence_grade"]) == ("continued", "A")


@pytest.mark.rule("N3")
class TestTheSameContext:
    def test_an_edited_question_gives_no_pair(self, talk, export):
        one = talk()
        first = one.ask("with subsidiaries?", "old answer")
        one.edit(first, "without subsidiaries?", "new answer")
        found = export()
        assert found.rows == []
        assert found.report.left_out == {"edited_question": 1}

    def test_versions_of_a_question_keep_their_answers_apart(self, talk, export):
        one = talk()
        first = one.ask("q", "a1")
        one.again("a2")
        one.edit(first, "other q", "b1")
        one.again("b2")
        found = export()
        assert found.answers == [("b2", "b1")]
        assert found.report.left_out == {"edited_question": 2}

    def test_another_system_prompt_is_another_context(self, talk, export, store):
        one = talk(system="be brief")
        one.ask("q", "short")
        with store.regenerate(one.id, system="be long") as turn:
            turn.current.succeed("long")
        found = export()
        assert found.report.left_out == {"context_mismatch": 1}

    def test_other_tools_are_another_context(self, talk, export, store):
        one = talk(tools=[{"name": "search", "parameters": {"type": "object", "properties": {}}}])
        one.ask("q", "a")
        with store.regenerate(one.id, tools=None) as turn:
            turn.current.succeed("b")
        assert export().report.left_out == {"context_mismatch": 1}

    def test_a_correction_is_chosen_over_the_models_answer(self, talk, export, store):
        one = talk(provider="openai", model="m", system="be exact")
        one.ask("capital of Australia?", "Sydney")
        store.correct(one.id, "Canberra")
        found = export()
        assert found.answers == [("Canberra", "Sydney")]
        meta = found.meta[0]
        assert (meta["branch_kind"], meta["chosen"]["author"], meta["rejected"]["author"]) == (
            "assistant_edit",
            "person",
            "model",
        )
        assert found.rows[0]["context_verified"] is True

    def test_a_switch_of_models_is_kept_and_said(self, talk, export, store):
        one = talk(provider="openai", model="small")
        one.ask("q", "a")
        with store.regenerate(one.id, provider="openai", model="large") as turn:
            turn.current.succeed("b")
        meta = export().meta[0]
        assert (meta["rejected"]["model"], meta["chosen"]["model"], meta["same_model"]) == ("small", "large", False)


@pytest.mark.rule("N4")
class TestPromptAndCompletion:
    def test_the_prompt_is_what_the_model_was_sent_system_prompt_first(self, talk, export):
        one = talk(system="be brief")
        one.ask("q", "bad")
        one.again("good")
        assert export().rows[0]["prompt"][0] == {"role": "system", "content": "be brief"}

    def test_the_completion_is_the_first_step_with_its_tool_calls(self, talk, export, store):
        tools = [{"name": "search", "description": "find", "parameters": {"type": "object", "properties": {}}}]
        one = talk(tools=tools)

        def answer(turn, call, query):
            found = [
                {"type": "tool_call", "call_id": f"id-{query}", "name": "search", "arguments": f'{{"q":"{query}"}}'}
            ]
            call.succeed(found)
            result = [{"type": "tool_result", "call_id": f"id-{query}", "output": "found"}]
            turn.call(result).succeed(f"I looked for {query}")

        with store.turn(one.id) as turn:
            answer(turn, turn.call("look it up", tools=tools), "wrong")
        with store.regenerate(one.id) as turn:
            answer(turn, turn.current, "right")
        one.ask("more", "bad")
        one.again("good")
        first, second = export().rows

        def called(query):
            function = {"name": "search", "arguments": {"q": query}}
            return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}

        assert first["chosen"] == [called("right")]
        assert first["rejected"] == [called("wrong")]
        assert json.loads(first["tools"])[0]["function"]["name"] == "search"
        assert second["prompt"] == [
            {"role": "user", "content": "look it up"},
            called("right"),
            {"role": "tool", "name": "search", "content": "found"},
            {"role": "assistant", "content": "I looked for right"},
            {"role": "user", "content": "more"},
        ]

    def test_after_a_compaction_the_prompt_is_the_summary(self, talk, export, store):
        one = talk()
        one.ask("a long story", "indeed")
        store.compact(one.id, "Summary: a long story.")
        one.ask("so?", "bad")
        one.again("good")
        assert export().rows[0]["prompt"] == [
            {"role": "user", "content": "Summary: a long story."},
            {"role": "user", "content": "so?"},
        ]

    def test_a_compaction_that_the_model_could_not_read_is_unfolded(self, talk, export, store):
        one = talk(provider="openai", model="m")
        one.ask("a long story", "indeed")
        store.compact(one.id, "opaque", readers=["anthropic"])
        one.ask("so?", "bad")
        one.again("good")
        assert [message["content"] for message in export().rows[0]["prompt"]] == ["a long story", "indeed", "so?"]

    def test_a_correction_after_a_compaction_keeps_the_models_context(self, talk, export, store):
        one = talk(provider="openai", model="m")
        one.ask("a long story", "indeed")
        store.compact(one.id, "for openai", readers=["openai"])
        one.ask("so?", "bad")
        store.correct(one.id, "good")
        found = export()
        assert found.answers == [("good", "bad")]
        assert found.rows[0]["prompt"][0]["content"] == "for openai"

    def test_branch_points_before_a_compaction_keep_their_own_prompt(self, talk, export, store):
        one = talk()
        one.ask("q1", "bad")
        one.again("good")
        store.compact(one.id, "Summary.")
        one.ask("q2", "end")
        found = export()
        assert found.answers == [("good", "bad")]
        assert found.rows[0]["prompt"] == [{"role": "user", "content": "q1"}]

    def test_reasoning_is_on_neither_side(self, talk, export, store):
        one = talk()
        thought = [{"type": "reasoning", "text": "hm"}, {"type": "message", "role": "assistant", "content": "bad"}]
        one.ask("q", thought)
        one.again("good")
        assert export().rows[0]["rejected"] == [{"role": "assistant", "content": "bad"}]

    def test_answers_without_anything_to_see_are_left_out(self, talk, export):
        one = talk()
        one.ask("q", [{"type": "reasoning", "text": "hm"}])
        one.again("good")
        assert export().report.left_out == {"empty": 1}

    def test_a_prompt_that_does_not_end_in_a_question_is_left_out(self, talk, export):
        one = talk()
        one.ask([{"type": "message", "role": "assistant", "content": "I begin: "}], "bad")
        one.again("good")
        assert export().report.left_out == {"prompt_end": 1}

    @pytest.mark.parametrize(
        "answer",
        [
            [{"type": "tool_call", "call_id": "1", "name": "f", "arguments": "{broken"}],
            [{"type": "tool_call", "call_id": "1", "name": "f", "arguments": '{"n":123456789012345678901}'}],
            [{"type": "message", "role": "assistant", "content": "lone \ud800 surrogate"}],
        ],
    )
    def test_what_other_programs_can_not_read_is_left_out(self, talk, export, answer):
        one = talk()
        one.ask("q", answer)
        one.again("good")
        assert export().report.left_out == {"not_expressible": 1}

    def test_a_question_with_an_image_is_left_out(self, talk, export):
        one = talk()
        picture = {"type": "image", "url": "https://example.org/a.png"}
        one.ask([{"type": "message", "role": "user", "content": [{"type": "text", "text": "?"}, picture]}], "a")
        one.again("b")
        assert export().report.left_out == {"not_expressible": 1}


@pytest.mark.rule("N5")
class TestNeverNegatives:
    def test_an_answer_that_a_fork_goes_on_with_is_not_rejected(self, talk, export, store):
        one = talk()
        liked = one.ask("q", "liked elsewhere")
        other = talk(store.fork(liked))
        other.ask("go on", "gladly")
        one.again("liked here")
        found = export()
        assert found.rows == []
        assert found.report.left_out == {"accepted": 1}

    def test_a_shared_prefix_gives_its_pairs_once(self, talk, export, store):
        one = talk()
        one.ask("q", "bad")
        good = one.again("good")
        talk(store.fork(good)).ask("on", "x")
        one.ask("further", "y")
        assert export().answers == [("good", "bad")]

    def test_a_fork_that_answers_its_first_turn_again_rejects_what_it_left(self, talk, export, store):
        one = talk()
        first = one.ask("q", "original")
        fork = talk(store.fork(first))
        fork.again("better")
        one.again("kept by the original")
        found = export()
        assert sorted(found.answers) == [("better", "original"), ("kept by the original", "original")]
        assert {meta["branch_kind"] for meta in found.meta} == {"fork", "regenerate"}

    @pytest.mark.parametrize(
        ("finish_reason", "expected"),
        [("cancelled", "cancelled"), ("length", "truncated"), ("content_filter", "moderated")],
    )
    def test_an_answer_that_did_not_end_by_itself_is_not_rejected(self, talk, export, finish_reason, expected):
        one = talk()
        one.ask("q", "half an ans", finish_reason=finish_reason)
        one.again("whole")
        found = export()
        assert (found.rows, found.report.left_out) == ([], {expected: 1})

    def test_a_failed_call_is_not_rejected(self, talk, export, store):
        one = talk()
        with store.turn(one.id) as turn:
            turn.call("q").fail("rate_limit")
        one.again("good")
        assert export().report.left_out == {"failed": 1}

    def test_a_call_still_pending_is_not_rejected(self, talk, export, store):
        one = talk()
        racing = store.turn(one.id, exclusive=False)
        racing.call("q")
        one.ask("q", "good")
        assert export().report.left_out == {"pending": 1}

    def test_the_branch_that_lost_a_race_is_not_rejected(self, talk, export, store):
        one = talk()
        slow = store.turn(one.id, exclusive=False)
        call = slow.call("q")
        one.ask("q", "first")
        call.succeed("second")
        with pytest.raises(CursorMoved):
            slow.end()
        found = export()
        assert (found.rows, found.report.left_out) == ([], {"never_current": 1})

    def test_it_is_once_somebody_looked_at_it_and_went_back(self, talk, export, store):
        one = talk()
        slow = store.turn(one.id, exclusive=False)
        call = slow.call("q")
        first = one.ask("q", "first")
        call.succeed("second")
        with pytest.raises(CursorMoved):
            slow.end()
        store.switch(one.id, call.id)
        store.switch(one.id, first)
        assert export().answers == [("first", "second")]

    def test_a_compaction_left_behind_is_not_rejected(self, talk, export, store):
        one = talk()
        one.ask("q1", "a1")
        slow = store.turn(one.id, exclusive=False)
        call = slow.call("q2")
        store.compact(one.id, "Summary.")
        call.succeed("a2")
        with pytest.raises(CursorMoved):
            slow.end()
        store.switch(one.id, call.id)
        assert export().report.left_out == {"compaction": 1}

    def test_branches_out_of_view_and_side_jobs_are_not_rejected(self, talk, export, store):
        one = talk()
        gone = one.ask("q", "gone")
        side = one.again("a draft")
        one.again("kept")
        with store.session.database.session("write") as session:
            mark = "MATCH (n:Node {workspace: $workspace, id: $id}) "
            session.run(mark + "SET n.deleted_at = datetime()", workspace=store.workspace, id=gone).consume()
            session.run(mark + "SET n.kind = 'conversion'", workspace=store.workspace, id=side).consume()
        assert export().report.left_out == {"conversion": 1, "tombstoned": 1}


@pytest.mark.rule("N7")
class TestSeveralNegatives:
    def test_several_negatives_are_several_rows_of_one_group(self, talk, export):
        one = talk()
        for answer in ("first draft", "something else entirely", "final"):
            one.again(answer) if answer != "first draft" else one.ask("q", answer)
        found = export()
        assert found.answers == [("final", "first draft"), ("final", "something else entirely")]
        assert len({row["group_id"] for row in found.rows}) == 1
        assert [row["group_weight"] for row in found.rows] == [0.5, 0.5]

    def many(self, talk, count=12):
        one = talk()
        one.ask("q", "answer 0")
        for number in range(1, count):
            one.again(f"answer {number}")
        return one

    def test_a_cap_bounds_them_and_a_seed_picks(self, talk, export):
        self.many(talk)
        by_seed = {seed: export(seed=seed, max_negatives=1).answers for seed in range(8)}
        assert all(len(answers) == 1 for answers in by_seed.values())
        assert len({answers[0] for answers in by_seed.values()}) > 1, "every seed picks the same negative"
        assert export(seed=3, max_negatives=1).answers == by_seed[3]
        assert export(max_negatives=1).report.left_out == {"over_cap": 10}

    def test_no_cap_takes_all(self, talk, export):
        self.many(talk)
        assert len(export(max_negatives=None).rows) == 11

    def test_a_later_negative_does_not_change_how_the_others_rank(self, talk, export):
        one = self.many(talk, 4)
        before = export(max_negatives=None).rows
        one.again("answer 99")
        after = {row["rejected"][0]["content"] for row in export(max_negatives=None).rows}
        assert {row["rejected"][0]["content"] for row in before} < after

    def test_the_same_answer_twice_is_no_pair(self, talk, export):
        one = talk()
        one.ask("q", "the same")
        one.again("the  same\n")
        assert export().report.left_out == {"identical": 1}

    def test_a_repeated_pair_is_written_once(self, talk, export):
        for _ in range(2):
            one = talk()
            one.ask("q", "bad")
            one.again("good")
        found = export()
        assert found.answers == [("good", "bad")]
        assert found.report.left_out == {"duplicate": 1}

    def test_contradictions_are_dropped_and_reported(self, talk, export):
        for bad, good in (("tea", "coffee"), ("coffee", "tea")):
            one = talk()
            one.ask("tea or coffee?", bad)
            one.again(good)
        found = export()
        assert found.rows == []
        assert found.report.left_out == {"contradiction": 2}
        assert len(found.manifest["contradictions"]) == 2

    def test_the_same_words_after_another_question_do_not_contradict(self, talk, export):
        for question, bad, good in (("morning?", "tea", "coffee"), ("evening?", "coffee", "tea")):
            one = talk()
            one.ask(question, bad)
            one.again(good)
        assert len(export().rows) == 2

    def test_near_duplicates_are_flagged_not_dropped(self, talk, export):
        one = talk()
        one.ask("q", "The revenue of the company was 4.2 million euros in 2024.")
        one.again("The revenue of the company was 4.3 million euros in 2024.")
        one.ask("q", "4")
        one.again("5")
        assert [meta["near_duplicate"] for meta in export().meta] == [True, False]


@pytest.mark.rule("N7")
@pytest.mark.parametrize("options", [{"as_": "nonsense"}, {"max_negatives": 0}, {"include": ["failed"]}])
def test_options_that_mean_nothing_are_refused(export, options):
    with pytest.raises(InvalidInput):
        export(**options)
