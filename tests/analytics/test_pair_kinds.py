"""What else is made of preference pairs: labelled answers, eval samples; and prompts, and pairs that somebody rated."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from judging import judge

from graphstore.analytics import export_evals, export_preferences, export_prompts, export_unpaired
from graphstore.errors import InvalidInput

CALLS = [{"type": "tool_call", "call_id": "x9", "name": "search", "arguments": '{"q": "x"}'}]
RESULTS = [{"type": "tool_result", "call_id": "x9", "output": "seen"}]


def lines(report):
    return [json.loads(line) for line in report.files[0].read_text().splitlines()]


@pytest.fixture
def three_answers(talk):
    """One question with three answers, the last gone on with."""
    one = talk(system="be brief")
    one.ask("question", "bad 1")
    one.again("bad 2")
    one.again("good")
    one.ask("thanks", "welcome")
    return one


@pytest.mark.rule("N5", "N7")
class TestUnpaired:
    def test_a_chosen_answer_is_one_row_however_many_were_rejected(self, store, three_answers, tmp_path):
        report = export_unpaired(store, tmp_path / "out")
        labels = Counter((row["completion"][0]["content"], row["label"]) for row in lines(report))
        assert labels == {("good", True): 1, ("bad 1", False): 1, ("bad 2", False): 1}
        assert (report.rows, report.written) == (2, 3)
        for row in lines(report):
            assert json.loads(row["meta"])["node_id"]
            assert (
                store.node(json.loads(row["meta"])["node_id"]).returned[0]["content"] == row["completion"][0]["content"]
            )

    def test_an_answer_of_which_nothing_is_known_is_no_row(self, store, talk, tmp_path):
        talk().ask("question", "answer")
        assert export_unpaired(store, tmp_path / "out").written == 0

    def test_the_same_answer_chosen_twice_after_the_same_words_is_one_row(self, store, talk, tmp_path):
        for bad in ("bad 1", "bad 2"):
            one = talk()
            one.ask("question", bad)
            one.again("good")
        report = export_unpaired(store, tmp_path / "out")
        assert (report.rows, report.written) == (2, 3)

    def test_datasets_reads_labels_as_truth_values(self, store, three_answers, tmp_path):
        report = export_unpaired(store, tmp_path / "out")
        seen = judge("sft_rows.py", tmp_path / "out", tmp_path / "cache")
        assert seen["rows"] == lines(report)
        assert {type(row["label"]) for row in seen["rows"]} == {bool}
        assert seen["conversational"] == [True] * 3


@pytest.mark.rule("N2", "N10")
class TestEvals:
    def test_a_branch_point_is_one_sample_with_its_negatives_in_the_metadata(self, store, three_answers, tmp_path):
        report = export_evals(store, tmp_path / "out")
        (sample,) = lines(report)
        assert sample["target"] == "good"
        assert sorted(sample["metadata"]["rejected"]) == ["bad 1", "bad 2"]
        assert [message["role"] for message in sample["input"]] == ["system", "user"]
        meta = sample["metadata"]
        assert store.node(meta["chosen_node_id"]).returned[0]["content"] == "good"
        assert {store.node(id).returned[0]["content"] for id in meta["rejected_node_ids"]} == {"bad 1", "bad 2"}

    def test_inspect_reads_calls_and_results_in_its_own_form(self, store, talk, three_answers, tmp_path):
        one = talk()
        with store.turn(one.id) as turn:
            turn.call("look").succeed(CALLS)
            turn.call(RESULTS).succeed("There.")
        one.ask("more", "bad")
        one.again([{**CALLS[0], "call_id": "y1"}])
        with store.turn(one.id) as turn:
            turn.call([{**RESULTS[0], "call_id": "y1"}]).succeed("Done.")
        report = export_evals(store, tmp_path / "out")
        seen = {sample["target"]: sample for sample in judge("inspect_samples.py", report.files[0])}
        assert set(seen) == {"good", '[{"function":"search","arguments":{"q":"x"}}]'}
        called = seen['[{"function":"search","arguments":{"q":"x"}}]']
        assert called["roles"] == ["user", "assistant", "tool", "assistant", "user"]
        assert called["texts"] == ["look", "", "seen", "There.", "more"]
        assert called["calls"] == [["call_1", "search", {"q": "x"}]]
        assert called["results"] == [["call_1", "search"]]
        assert called["rejected"] == ["bad"]
        assert len({sample["id"] for sample in seen.values()}) == 2

    def test_two_runs_give_the_same_bytes(self, store, three_answers, tmp_path):
        for export in (export_evals, export_unpaired, export_prompts):
            one, two = (export(store, tmp_path / f"{export.__name__}-{run}") for run in "ab")
            assert [file.read_bytes() for file in one.files] == [file.read_bytes() for file in two.files]

    def test_unknown_formats_are_refused(self, store, tmp_path):
        for export in (export_evals, export_unpaired, export_prompts):
            with pytest.raises(InvalidInput, match="choose one of"):
                export(store, tmp_path / "out", "alpaca")


@pytest.mark.rule("N1", "N4")
class TestPrompts:
    def test_each_question_of_the_accepted_path_is_asked_once(self, store, talk, tmp_path):
        for _ in range(2):
            one = talk()
            asked = one.ask("typo", "to the typo")
            one.edit(asked, "mended", "answer")
            with store.turn(one.id) as turn:
                turn.call("look").succeed(CALLS)
                turn.call(RESULTS).succeed("There.")
        report = export_prompts(store, tmp_path / "out")
        assert [row["prompt"][-1]["content"] for row in lines(report)] == ["mended", "look"]
        assert all("completion" not in row for row in lines(report))
        assert report.left_out == {"duplicate": 2, "inside_a_turn": 2}
        assert report.candidates == report.rows + 4


@pytest.mark.rule("N6", "W2")
class TestExplicitFeedback:
    def rows(self, store, folder, **options):
        report = export_preferences(store, folder, **options)
        assert report.candidates == report.rows + sum(report.left_out.values())
        return lines(report), report.left_out

    def test_what_somebody_said_is_the_strongest_evidence(self, store, talk, tmp_path):
        one = talk()
        bad = one.ask("question", "bad")
        one.again("good")
        rows, _ = self.rows(store, tmp_path / "before")
        assert [row["choice_evidence"] for row in rows] == ["newest_only"]
        store.feedback.give(bad, rating="down")
        rows, _ = self.rows(store, tmp_path / "after")
        assert [(row["choice_evidence"], row["evidence_grade"]) for row in rows] == [("explicit_feedback", "A")]

    def test_an_answer_rated_better_than_the_chosen_one_is_no_negative(self, store, talk, tmp_path):
        one = talk()
        liked = one.ask("question", "liked")
        one.again("kept")
        store.feedback.give(liked, rating="up")
        assert self.rows(store, tmp_path / "out") == ([], {"rated_better": 1})

    def test_as_many_ups_as_downs_say_nothing(self, store, talk, tmp_path):
        one = talk()
        bad = one.ask("question", "bad")
        one.again("good")
        store.feedback.give(bad, rating="down", by="a")
        store.feedback.give(bad, rating="up", by="b")
        rows, _ = self.rows(store, tmp_path / "out")
        assert [row["choice_evidence"] for row in rows] == ["newest_only"]
