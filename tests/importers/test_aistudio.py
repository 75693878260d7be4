"""Google AI Studio: chunks in a line, branches by their parent, thoughts, media, failures."""

from __future__ import annotations

import json

import pytest
from import_trees import by_key, check_shape, imported, path_items, path_keys

from graphstore.importers import read

pytestmark = pytest.mark.rule("I1", "I4")


def chunk(key, role="model", **fields):
    return {"id": key, "role": role, "text": f"text of {key}"} | fields


def prompt(*chunks, **fields):
    return {"id": "p1", "displayName": "t", "chunkedPrompt": {"chunks": list(chunks)}} | fields


def one(tmp_path, value):
    conversation = imported(tmp_path, value)
    check_shape(conversation)
    assert conversation.source == "aistudio"
    return conversation


@pytest.mark.rule("I2", "I3")
def test_a_branch_hangs_where_it_says_and_what_follows_goes_on_from_it(tmp_path):
    chunks = [
        chunk("q", "user"),
        chunk("a"),
        chunk("b", branchParent={"id": "q"}),
        chunk("q2", "user"),
        chunk("c"),
    ]
    settings = {"runSettings": {"model": "models/gemini-2.5-pro"}, "systemInstruction": {"text": "Be kind."}}
    conversation = one(tmp_path, prompt(*chunks, **settings))
    assert path_keys(conversation, "a") == ["q", "a"]
    assert path_keys(conversation, "c") == ["q", "b", "q2", "c"]
    assert (conversation.cursor_key, conversation.cursor_guessed) == ("c", False)
    assert {(call.model, call.system_prompt) for call in conversation.calls} == {("gemini-2.5-pro", "Be kind.")}


def test_a_branch_off_nothing_follows_the_one_before_it(tmp_path):
    conversation = one(tmp_path, prompt(chunk("q", "user"), chunk("a", branchParent={"id": "gone"})))
    assert path_keys(conversation, "a") == ["q", "a"]
    assert conversation.report.counts["orphan"] == 1


def test_thoughts_calls_results_and_media(tmp_path):
    chunks = [
        chunk("q", "user"),
        {"role": "user", "driveImage": {"id": "d1"}},
        {"role": "user", "inlineFile": {"mimeType": "image/png", "data": "AAAA"}},
        chunk("t", isThought=True, parts=[{"text": "hm", "thought": True, "thoughtSignature": "s"}]),
        {"role": "model", "functionCall": {"name": "f", "args": {"x": 1}}},
        {"role": "user", "functionResponse": {"name": "f", "response": {"y": 2}}},
        {"role": "model", "executableCode": {"language": "PYTHON", "code": "1"}},
        chunk("a", finishReason="MAX_TOKENS"),
    ]
    conversation = one(tmp_path, prompt(*chunks))
    items = path_items(conversation, "a")
    assert items[1]["content"][0]["extra"]["aistudio"]["driveImage"] == {"id": "d1"}
    assert items[2]["content"][0] == {"type": "image", "media_type": "image/png", "data": "AAAA"}
    assert items[3] == {"type": "reasoning", "text": "text of t", "signature": "s"}
    assert items[4]["call_id"] == items[5]["call_id"]
    assert by_key(conversation)["a"].finish_reason == "length"
    assert not conversation.report.counts["unpaired_call"]


def test_failures_with_and_without_text(tmp_path):
    cut = one(tmp_path, prompt(chunk("q", "user"), chunk("a", errorMessage="cut", finishReason="OTHER")))
    assert (cut.calls[0].status, cut.calls[0].finish_reason) == ("succeeded", "error")
    silent = one(tmp_path, prompt(chunk("q", "user"), chunk("a", text="", errorMessage="none")))
    assert (silent.calls[0].status, silent.calls[0].failure_message) == ("failed", "none")


def test_what_is_not_understood_is_kept_or_named(tmp_path):
    conversation = one(tmp_path, prompt(chunk("q", "user"), 5, chunk("x", "ghost"), chunk("a"), chunk("a")))
    assert path_keys(conversation, "a") == ["q", "x", "a"]
    assert conversation.report.counts["unknown_content"] == 2
    assert conversation.report.counts["duplicate_id"] == 1
    assert one(tmp_path, prompt()).report.skipped == "it has no chunks"


@pytest.mark.rule("I4")
def test_a_bad_record_beside_prompts_is_named(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps([prompt(chunk("q", "user"), chunk("a")), 7]))
    good, bad = read(path)
    assert len(good.calls) == 1
    assert "record 1" in bad.report.skipped


@pytest.mark.rule("I5")
def test_prompts_without_ids_go_by_their_files_and_grow(store, tmp_path):
    said = [{"role": "user", "text": "hi"}, {"role": "model", "text": "A"}]
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"chunkedPrompt": {"chunks": said}}))
    first = list(store.import_file(tmp_path))
    assert [outcome.nodes_added for outcome in first] == [1, 1]
    assert len({outcome.conversation_id for outcome in first}) == 2
    assert [outcome.nodes_added for outcome in store.import_file(tmp_path)] == [0, 0]
    (tmp_path / "one.json").write_text(json.dumps({"chunkedPrompt": {"chunks": said * 2}}))
    assert [outcome.nodes_added for outcome in store.import_file(tmp_path)] == [1, 0]
