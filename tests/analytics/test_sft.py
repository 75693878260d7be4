"""Answers of the accepted paths, each to be trained on once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pydantic
import pytest
from judging import judge
from openai.types.chat import ChatCompletionMessageParam

from graphstore import GraphStore
from graphstore.analytics import AnswersReport, export_sft
from graphstore.errors import InvalidInput

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples"
CALLS = [{"type": "tool_call", "call_id": "1", "name": "search", "arguments": '{"q": "x"}'}]
RESULTS = [{"type": "tool_result", "call_id": "1", "output": "seen"}]
TOOLS = [{"name": "search", "parameters": {"type": "object", "properties": {}}}]


class Answers:
    """An export as a test sees it: rows, what is trained on in them, provenance, manifest."""

    def __init__(self, folder: Path, report: AnswersReport) -> None:
        self.folder, self.report = folder, report
        self.rows = [json.loads(line) for line in (folder / "sft.jsonl").read_text().splitlines()]
        self.manifest = json.loads((folder / "manifest.json").read_text())
        beside = folder / "provenance.jsonl"
        self.meta: list[dict[str, Any]] = (
            [json.loads(line)["meta"] for line in beside.read_text().splitlines()]
            if beside.exists()
            else [json.loads(row["meta"]) for row in self.rows]
        )

    @property
    def trained(self) -> list[str]:
        """The text of every answer that is trained on."""
        if "completion" in self.folder.joinpath("sft.jsonl").read_text():
            return [message["content"] for row in self.rows for message in row["completion"]]
        return [m["content"] for row in self.rows for m in row["messages"] if m.get("weight") == 1]

    @property
    def nodes(self) -> list[str]:
        return [each["node_id"] for meta in self.meta for each in meta["trained"]]


@pytest.fixture
def answers(store: GraphStore, tmp_path: Path) -> Callable[..., Answers]:
    count = 0

    def run(as_: str = "openai", **options: Any) -> Answers:
        nonlocal count
        count += 1
        folder = tmp_path / f"sft-{count}"
        report = export_sft(store, folder, as_, **options)
        found = Answers(folder, report)
        assert report.candidates == report.answers + sum(report.left_out.values()), "a node is not accounted for"
        assert len(found.rows) == report.rows == len(found.meta)
        assert len(found.nodes) == len(set(found.nodes)) == report.answers, "a node is trained on twice"
        return found

    return run


@pytest.fixture
def searched(store, talk):
    """A turn with a tool call in it, then another turn."""
    one = talk()
    with store.turn(one.id) as turn:
        turn.call("look", tools=TOOLS, system="be brief").succeed(CALLS)
        turn.call(RESULTS, tools=TOOLS, system="be brief").succeed("There.")
    with store.turn(one.id) as turn:
        turn.call("and?", tools=TOOLS, system="be brief").succeed("Done.")
    return one


@pytest.mark.rule("N1", "N8")
class TestWhatIsTrainedOn:
    @pytest.mark.parametrize("as_", ["openai", "trl"])
    def test_replaced_answers_and_questions_are_in_no_row(self, talk, answers, as_):
        one = talk()
        first = one.ask("question", "replaced")
        kept = one.again("kept")
        asked = one.ask("typo", "to the typo")
        edited = one.edit(asked, "mended", "to the mended")
        found = answers(as_)
        assert found.trained == ["kept", "to the mended"]
        assert found.nodes == [kept, edited]
        assert first not in found.nodes
        text = (found.folder / "sft.jsonl").read_text()
        assert "replaced" not in text
        assert "typo" not in text

    @pytest.mark.parametrize(
        ("settled", "reason"),
        [
            ({"finish_reason": "length"}, "truncated"),
            ({"finish_reason": "content_filter"}, "moderated"),
            ({"finish_reason": "cancelled"}, "cancelled"),
        ],
    )
    def test_an_answer_that_is_not_whole_is_said_but_not_trained_on(self, talk, answers, settled, reason):
        one = talk()
        one.ask("first", "partial", **settled)
        one.ask("second", "whole")
        found = answers()
        assert found.trained == ["whole"]
        assert [m.get("weight") for m in found.rows[0]["messages"]] == [None, 0, None, 1]
        assert found.report.left_out == {reason: 1}

    def test_a_failed_call_leaves_its_question_and_nothing_to_train_on(self, store, talk, answers):
        one = talk()
        with store.turn(one.id) as turn:
            turn.call("first").fail("server_error", "down")
        one.ask("second", "whole")
        found = answers()
        assert found.report.left_out == {"failed": 1}
        assert [m["role"] for m in found.rows[0]["messages"]] == ["user", "user", "assistant"]

    def test_a_disliked_answer_is_left_out_unless_asked_for(self, store, talk, answers):
        one = talk()
        bad = one.ask("first", "disliked")
        one.ask("second", "fine")
        store.feedback.give(bad, rating="down")
        assert answers().trained == ["fine"]
        assert answers().report.left_out == {"disliked": 1}
        assert answers(include=["disliked"]).trained == ["disliked", "fine"]

    def test_a_persons_correction_is_trained_on_and_marked(self, store, talk, answers):
        one = talk()
        node = one.ask("question", "wrong")
        store.correct(one.id, "right", node_id=node)
        found = answers()
        assert found.trained == ["right"]
        assert found.meta[0]["trained"][0]["author"] == "person"
        assert found.report.health["share_by_a_person"] == 1.0

    def test_forks_train_on_a_shared_prefix_once(self, store, talk, answers):
        one = talk()
        first = one.ask("question", "shared")
        one.ask("on", "original")
        fork = talk(store.fork(first))
        fork.ask("off", "forked")
        found = answers()
        assert sorted(found.trained) == ["forked", "original", "shared"]
        assert found.report.left_out == {"trained_elsewhere": 1}
        shared = [m["weight"] for row in found.rows for m in row["messages"] if m["content"] == "shared"]
        assert sorted(shared) == [0, 1]

    def test_the_same_answer_to_the_same_words_is_trained_on_once(self, talk, answers):
        for _ in range(2):
            one = talk()
            one.ask("question", "answer")
            one.ask("another", "way")
        found = answers()
        assert found.trained == ["answer", "way"]
        assert found.report.left_out == {"duplicate": 2}


@pytest.mark.rule("N4", "N8")
class TestWhatItWasSent:
    def test_a_transcript_holds_calls_results_and_the_system_prompt(self, searched, answers):
        found = answers()
        assert len(found.rows) == 1
        messages = found.rows[0]["messages"]
        assert [m["role"] for m in messages] == [
            "system",
            "user",
            "assistant",
            "tool",
            "assistant",
            "user",
            "assistant",
        ]
        assert [m["weight"] for m in messages if m["role"] == "assistant"] == [1, 1, 1]
        assert messages[2]["tool_calls"][0]["function"] == {"name": "search", "arguments": '{"q": "x"}'}
        assert found.rows[0]["tools"][0]["function"]["name"] == "search"

    def test_every_answer_has_its_own_prompt_in_prompt_and_completion(self, store, searched, answers):
        found = answers("trl")
        assert len(found.rows) == 3
        for row, meta in zip(found.rows, found.meta, strict=True):
            told = meta["trained"][0]
            sent = store.saw_by_model(told["node_id"]).context.render("openai-chat")["messages"]
            assert [m["role"] for m in row["prompt"]] == [m["role"] for m in sent]
            assert len(row["prompt"]) == told["message"]

    def test_another_system_prompt_begins_another_row(self, store, talk, answers):
        one = talk()
        for number, system in enumerate(("old", "old", "new")):
            with store.turn(one.id) as turn:
                turn.call(f"question {number}", system=system).succeed(f"answer {number}")
        found = answers()
        assert [row["messages"][0]["content"] for row in found.rows] == ["old", "new"]
        assert [[m["weight"] for m in row["messages"] if m["role"] == "assistant"] for row in found.rows] == [
            [1, 1],
            [0, 0, 1],
        ]

    def test_below_a_compaction_the_summary_stands_for_what_it_replaced(self, store, talk, answers):
        one = talk()
        one.ask("before", "old answer")
        store.compact(one.id, "the summary")
        one.ask("after", "new answer")
        found = answers()
        assert found.trained == ["old answer", "new answer"]
        assert found.report.left_out == {"compaction": 1}
        assert len(found.rows) == 2
        assert "old answer" not in json.dumps(found.rows[1])
        assert "the summary" in json.dumps(found.rows[1]["messages"][0])

    def test_a_call_that_never_had_its_result_is_trained_on_where_it_is_the_answer(self, store, talk, answers):
        one = talk()
        one.ask("look", CALLS)
        one.ask("never mind", "fine")
        found = answers()
        assert len(found.rows) == 2
        assert [len(row["messages"]) for row in found.rows] == [2, 3]
        assert found.rows[0]["messages"][1]["tool_calls"]
        assert [m["role"] for m in found.rows[1]["messages"]] == ["user", "user", "assistant"]

    def test_what_has_no_words_in_the_format_ends_the_transcript(self, store, talk, answers):
        one = talk()
        one.ask("plain", "answer")
        one.ask("lone \ud800 surrogate", "unreadable")
        found = answers()
        assert found.trained == ["answer"]
        assert found.report.left_out == {"not_expressible": 1}

    def test_ten_thousand_calls_are_one_transcript(self, store, answers, tmp_path):
        """Attribution by the nodes' own messages: rendering each call's context would be quadratic."""
        source = tmp_path / "long.jsonl"
        said = [
            message
            for number in range(10_000)
            for message in (
                {"role": "user", "content": f"question {number}"},
                {"role": "assistant", "content": f"answer {number}"},
            )
        ]
        source.write_text(json.dumps({"messages": said}) + "\n")
        assert [outcome.skipped for outcome in store.import_file(source)] == [None]
        found = answers()
        assert found.report.answers == 10_000
        assert len(found.rows) == 1


@pytest.mark.rule("N10")
class TestReadByItsConsumers:
    def test_openai_takes_every_message(self, searched, answers, tmp_path):
        found = answers()
        for row in found.rows:
            assert set(row) <= {"messages", "tools"}
            bare = [{key: value for key, value in m.items() if key != "weight"} for m in row["messages"]]
            pydantic.TypeAdapter(list[ChatCompletionMessageParam]).validate_python(bare)
        assert judge("sft_rows.py", found.folder, tmp_path / "cache")["rows"] == found.rows

    def test_trl_sees_prompt_and_completion(self, searched, talk, answers, tmp_path):
        talk().ask("plain", "words")
        found = answers("trl")
        seen = judge("sft_rows.py", found.folder, tmp_path / "cache")
        assert seen["rows"] == found.rows
        assert seen["conversational"] == [True] * 4
        texts = sorted(text["completion"] for text in seen["texts"])
        assert "There.</assistant>" in texts
        assert any(text.startswith('[search {"q": "x"}]') for text in texts)

    @pytest.mark.parametrize("format", ["chatgpt", "claude_ai", "oasst", "openai_jsonl", "openwebui"])
    def test_every_sample_is_accounted_for_and_read(self, store, answers, format, tmp_path):
        if not SAMPLES.is_dir():
            pytest.skip(f"no samples in {SAMPLES}")
        assert any(outcome.nodes_added for outcome in store.import_file(SAMPLES / format))
        for as_ in ("openai", "trl"):
            found = answers(as_, include=["guessed_cursor"])
            assert found.report.answers
            assert "context_not_reproduced" not in found.report.left_out
            assert judge("sft_rows.py", found.folder, tmp_path / f"cache-{as_}")["rows"] == [
                {**dict.fromkeys(("messages", "tools") if as_ == "openai" else ()), **row} for row in found.rows
            ]


@pytest.mark.rule("N10")
class TestTheFiles:
    @pytest.mark.parametrize("as_", ["openai", "trl"])
    def test_the_same_state_gives_the_same_bytes(self, searched, talk, answers, as_):
        talk().ask("plain", "words")
        first, second = answers(as_), answers(as_)
        for file in first.report.files:
            assert file.read_bytes() == (second.folder / file.name).read_bytes()
        assert len(first.report.files) == len(first.manifest["files"]) + 1

    def test_a_guessed_cursor_casts_doubt_only_from_the_first_branch_on(self, store, answers, tmp_path):
        """An OpenAssistant tree names no active leaf; its first answer is on every path all the same."""

        def message(id, role, text, replies=()):
            return {"message_id": id, "role": role, "text": text, "lang": "en", "replies": list(replies)}

        ends = [message(f"e{n}", "prompter", f"next {n}", [message(f"f{n}", "assistant", f"end {n}")]) for n in (1, 2)]
        prompt = message("q", "prompter", "question", [message("a", "assistant", "shared", ends)])
        source = tmp_path / "trees.jsonl"
        source.write_text(json.dumps({"message_tree_id": "q", "tree_state": "ready_for_export", "prompt": prompt}))
        assert [outcome.skipped for outcome in store.import_file(source)] == [None]
        assert answers().trained == ["shared"]
        assert answers().report.left_out == {"guessed_cursor": 1}
        assert len(answers(include=["guessed_cursor"]).trained) == 2

    def test_what_cannot_be_included_or_written_is_refused(self, store, tmp_path):
        with pytest.raises(InvalidInput, match="can't be included"):
            export_sft(store, tmp_path / "out", include=["failed"])
        with pytest.raises(InvalidInput, match="choose one of openai, trl"):
            export_sft(store, tmp_path / "out", "alpaca")
        assert not (tmp_path / "out").exists()
