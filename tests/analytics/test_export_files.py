"""The files of an export: what they say about themselves, that they repeat, and whose folders they stay out of."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from judging import judge

from graphstore.analytics import export_preferences
from graphstore.errors import InvalidInput

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples"


def messages_text(messages, tools="[]", then=""):
    """The judge's chat template, written again by hand."""
    text = "" if tools == "[]" else f"<tools>{tools}</tools>"
    for message in messages:
        calls = "".join(
            f"[{call['function']['name']} {json.dumps(call['function']['arguments'])}]"
            for call in message.get("tool_calls") or []
        )
        text += f"<{message['role']}>{message['content']}{calls}</{message['role']}>"
    return text + then


@pytest.fixture
def talks(talk, store):
    """A bit of everything that rows may hold."""
    tools = [{"name": "search", "parameters": {"type": "object", "properties": {}}}]
    for number in range(3):
        plain = talk(system="be brief")
        plain.ask(f"question {number}", "bad 1")
        plain.again("bad 2")
        plain.again("good")
        plain.ask("thanks", "welcome")
        called = talk()
        found = {"q": number, "nested": {"list": [1, "two", None]}} if number else {"other": "kinds"}
        with store.turn(called.id) as turn:
            call = turn.call("look", tools=tools)
            call.succeed([{"type": "tool_call", "call_id": "1", "name": "search", "arguments": json.dumps(found)}])
            turn.call([{"type": "tool_result", "call_id": "1", "output": f"seen {number} ☃"}]).succeed("There.")
        with store.regenerate(called.id) as turn:
            turn.current.succeed(f"I won't {number}")
        called.ask(f"again {number}", "no")
        called.again("yes")


@pytest.mark.rule("N7", "N10")
class TestReadByItsConsumers:
    def test_trl_and_datasets_see_the_rows_as_written(self, talks, export, tmp_path):
        found = export(max_negatives=None)
        assert found.report.rows == 12
        seen = judge("trl_rows.py", found.folder, tmp_path / "cache")
        assert seen["rows"] == found.rows
        assert seen["same_by_file"]
        assert seen["conversational"] == [True] * 12
        assert seen["prompt_left_alone"] == [True] * 12
        for row, texts in zip(found.rows, seen["texts"], strict=True):
            assert texts == {
                "prompt": messages_text(
                    row["prompt"], row["tools"].replace(":", ": ").replace(",", ", "), "<assistant>"
                ),
                "chosen": messages_text(row["chosen"]).removeprefix("<assistant>"),
                "rejected": messages_text(row["rejected"]).removeprefix("<assistant>"),
            }

    def test_unpaired_each_side_is_one_labelled_row(self, talks, export, tmp_path):
        found = export(max_negatives=None)
        unpaired = judge("trl_rows.py", found.folder, tmp_path / "cache")["unpaired"]
        expected = [(row["row_id"], True, row["prompt"], row["chosen"]) for row in found.rows]
        expected += [(row["row_id"], False, row["prompt"], row["rejected"]) for row in found.rows]
        assert [(row["row_id"], row["label"], row["prompt"], row["completion"]) for row in unpaired] == expected

    def test_rows_that_differ_late_in_a_large_file_are_read_by_the_card(self, talk, export, store, tmp_path):
        """A reader that guesses columns from the first ten megabytes meets the first tool call too late."""
        long = "word " * 400_000
        for _ in range(7):
            one = talk()
            one.ask(long + one.id, "bad")
            one.again("good")
        late = talk()
        late.ask("look", [{"type": "tool_call", "call_id": "1", "name": "f", "arguments": '{"a":1}'}])
        late.again("no")
        found = export()
        seen = judge("trl_rows.py", "--card-only", found.folder, tmp_path / "cache")
        assert seen["rows"] == found.rows


@pytest.mark.rule("N10")
class TestProvenance:
    def test_every_row_leads_back_to_its_nodes(self, talks, export, store):
        for row, meta in zip(*(lambda found: (found.rows, found.meta))(export()), strict=True):
            chosen, rejected = store.node(meta["chosen_node_id"]), store.node(meta["rejected_node_id"])
            assert chosen.parent_id == rejected.parent_id == meta["prompt_leaf_id"]
            assert chosen.context_hash == meta["context_hash"]
            assert [node.id for node in store.path(meta["conversation_id"])][meta["divergence_depth"]] == chosen.id
            assert chosen.returned[0].get("content", "") == row["chosen"][0]["content"]
            assert meta["row_id"] == row["row_id"]

    def test_no_id_stands_inside_a_message(self, talks, export):
        for row in export().rows:
            for message in row["prompt"] + row["chosen"] + row["rejected"]:
                assert set(message) <= {"role", "content", "name", "tool_calls"}
                assert all(set(call) == {"type", "function"} for call in message.get("tool_calls", ()))

    def test_the_manifest_holds_counts_options_and_hashes(self, talks, export):
        found = export(seed=7, max_negatives=1)
        manifest = found.manifest
        assert manifest["options"] == {"as": "trl", "seed": 7, "max_negatives": 1, "include": []}
        assert manifest["counts"]["rows"] == len(found.rows) == 9
        assert manifest["left_out"] == {"over_cap": 3}
        for file in manifest["files"]:
            content = (found.folder / file["name"]).read_bytes()
            assert (hashlib.sha256(content).hexdigest(), len(content)) == (file["sha256"], file["bytes"])

    def test_health_numbers_are_those_of_the_rows(self, talk, export):
        for number, (bad, good) in enumerate((("short", "quite a bit longer"), ("rather long, this", "brief"))):
            one = talk()
            one.ask(f"q{number}", bad)
            one.again(good)
        one = talk()
        one.ask("q", "three")
        one.again("seven!!")
        health = export().report.health
        assert health["share_chosen_longer"] == round(2 / 3, 4)
        assert health["length_only_accuracy"] == round(2 / 3, 4)
        assert health["mean_chosen_characters"] == 10


@pytest.mark.rule("N7", "N10")
class TestTheSameAgain:
    def test_the_same_state_seed_and_options_give_the_same_bytes(self, talks, export):
        first, second = export(seed=5, max_negatives=1), export(seed=5, max_negatives=1)
        for name in ("preferences.jsonl", "manifest.json", "README.md"):
            assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()

    def test_page_size_does_not_matter(self, talks, export, monkeypatch, store):
        from graphstore.analytics import reading

        whole = export()
        monkeypatch.setattr(reading.paths, "__defaults__", (1,))
        assert export().rows == whole.rows

    def test_an_export_over_an_earlier_one_replaces_it(self, talk, store, tmp_path):
        one = talk()
        one.ask("q", "bad")
        one.again("good")
        export_preferences(store, tmp_path / "out")
        one.again("better")
        assert export_preferences(store, tmp_path / "out").rows == 2
        assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
            "README.md",
            "manifest.json",
            "preferences.jsonl",
        ]


@pytest.mark.rule("N10")
class TestTheFolder:
    def test_a_folder_with_something_else_in_it_is_left_alone(self, store, tmp_path):
        (tmp_path / "thesis.tex").write_text("years of work")
        with pytest.raises(InvalidInput, match=r"thesis\.tex"):
            export_preferences(store, tmp_path)
        assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]

    def test_files_of_the_same_names_that_are_not_an_export_are_left_alone(self, store, tmp_path):
        (tmp_path / "README.md").write_text("mine")
        with pytest.raises(InvalidInput, match=r"README\.md"):
            export_preferences(store, tmp_path)

    def test_a_file_is_no_folder(self, store, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(InvalidInput, match="is a file"):
            export_preferences(store, tmp_path / "file")

    def test_a_folder_below_a_file_is_refused(self, store, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(InvalidInput, match="can't be used"):
            export_preferences(store, tmp_path / "file" / "out")

    def test_an_export_that_fails_leaves_the_earlier_file_whole(self, talk, store, tmp_path, monkeypatch):
        one = talk()
        one.ask("q", "bad")
        one.again("good")
        export_preferences(store, tmp_path / "out")
        before = (tmp_path / "out" / "preferences.jsonl").read_bytes()
        monkeypatch.setattr("graphstore.analytics.formats.trl.row", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            export_preferences(store, tmp_path / "out")
        assert (tmp_path / "out" / "preferences.jsonl").read_bytes() == before
        assert not list((tmp_path / "out").glob("*.partial"))


@pytest.mark.rule("N3", "N10")
class TestImported:
    def test_progress_counts_the_conversations(self, talks, store, tmp_path):
        calls = []
        export_preferences(store, tmp_path / "out", progress=lambda done, total: calls.append((done, total)))
        assert calls == [(number, 6) for number in range(1, 7)]

    def test_a_regenerated_answer_of_an_export_is_a_pair_with_an_unverified_context(self, store, export, tmp_path):
        source = tmp_path / "conversations.json"
        source.write_text(json.dumps([chatgpt_conversation()]))
        assert [outcome.skipped for outcome in store.import_file(source)] == [None]
        found = export()
        assert found.answers == [("good", "bad")]
        assert found.rows[0]["context_verified"] is False
        assert found.meta[0]["source"] == "chatgpt"

    @pytest.mark.parametrize("format", ["chatgpt", "claude_ai", "oasst", "openai_jsonl"])
    def test_every_sample_exports_with_all_candidates_accounted_for(self, store, export, format, tmp_path):
        if not SAMPLES.is_dir():
            pytest.skip(f"no samples in {SAMPLES}")
        assert any(outcome.nodes_added for outcome in store.import_file(SAMPLES / format))
        found = export(include=["guessed_cursor", "censored"], max_negatives=None)
        assert not any(row["context_verified"] for row in found.rows)
        assert "context_not_reproduced" not in found.report.left_out
        if found.rows:
            seen = judge("trl_rows.py", found.folder, tmp_path / "cache")
            assert seen["rows"] == found.rows


def chatgpt_conversation():
    """One question with two answers in ChatGPT's shape; the second is gone on with."""

    def node(id, parent, children, role, text, at):
        message = {
            "id": id,
            "author": {"role": role},
            "create_time": at,
            "content": {"content_type": "text", "parts": [text]},
            "status": "finished_successfully",
            "end_turn": True,
            "weight": 1.0,
            "metadata": {},
            "recipient": "all",
        }
        return {"id": id, "parent": parent, "children": children, "message": message}

    nodes = [
        {"id": "root", "parent": None, "children": ["q"], "message": None},
        node("q", "root", ["bad", "good"], "user", "question", 1.0),
        node("bad", "q", [], "assistant", "bad", 2.0),
        node("good", "q", ["thanks"], "assistant", "good", 3.0),
        node("thanks", "good", ["welcome"], "user", "thanks", 4.0),
        node("welcome", "thanks", [], "assistant", "welcome", 5.0),
    ]
    return {
        "id": "conversation",
        "conversation_id": "conversation",
        "title": "Two answers",
        "create_time": 1.0,
        "update_time": 5.0,
        "mapping": {each["id"]: each for each in nodes},
        "current_node": "welcome",
    }


@pytest.mark.rule("N10")
@pytest.mark.parametrize("side", ["chosen", "rejected", "prompt", "offered", "nowhere"])
def test_a_row_is_with_tools_when_they_were_offered_or_called_anywhere_in_it(store, talk, export, side):
    calls = [{"type": "tool_call", "call_id": "1", "name": "search", "arguments": "{}"}]
    results = [{"type": "tool_result", "call_id": "1", "output": "seen"}]
    one = talk(tools=[{"name": "search", "parameters": {"type": "object"}}]) if side == "offered" else talk()
    if side == "prompt":
        with store.turn(one.id) as turn:
            turn.call("look").succeed(calls)
            turn.call(results).succeed("there")
    one.ask("question", calls if side == "rejected" else "no")
    one.again(calls if side == "chosen" else "yes")
    found = export()
    assert found.report.rows == 1
    assert found.report.health["share_with_tools"] == (0.0 if side == "nowhere" else 1.0)
    assert (found.rows[0]["tools"] != "[]") == (side == "offered")
