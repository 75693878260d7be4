"""ChatGPT exports: what each kind of message becomes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from import_trees import by_key, chatgpt, check_shape, node

from graphstore.importers import Report
from graphstore.importers import chatgpt as chatgpt_reader


def _read(nodes, current=None, **fields):
    conversation = chatgpt_reader.conversation(chatgpt(nodes, current, **fields), Report(None))
    check_shape(conversation)
    return conversation


def _only(entry):
    [call] = _read([entry]).calls
    return [*call.sent, *call.returned]


def _with_content(role, content, **fields):
    return _only(node("m", None, role, content=content, **fields))


def test_one_visible_answer_is_split_into_rounds_at_tool_results():
    conversation = _read(
        [
            node("root", None, None),
            node("s", "root", "system", ""),
            node("q", "s", "user", "why?"),
            node(
                "t",
                "q",
                "assistant",
                content={"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}]},
            ),
            node("c", "t", "assistant", '{"q": 1}', recipient="web.search"),
            node("r", "c", "tool", "found", name="web.search"),
            node("p", "r", "assistant", content={"content_type": "reasoning_recap", "content": "Thought for 2s"}),
            node("a", "p", "assistant", "because"),
        ],
        "a",
    )
    first, second = conversation.calls
    assert first.sent == [{"type": "message", "role": "user", "content": "why?"}]
    assert first.sent_keys == ["s", "q"]
    assert first.returned == [
        {"type": "reasoning", "text": "c", "summary": ["s"]},
        {"type": "tool_call", "call_id": "c", "name": "web.search", "arguments": '{"q": 1}'},
    ]
    assert first.finish_reason == "tool_calls"
    assert second.sent == [{"type": "tool_result", "call_id": "c", "output": "found"}]
    assert second.returned == [
        {"type": "reasoning", "summary": ["Thought for 2s"]},
        {"type": "message", "role": "assistant", "content": "because"},
    ]
    assert (second.parent_key, second.turn_key, second.round) == ("c", "c", 1)
    assert conversation.report.counts["unpaired_call"] == conversation.report.counts["unpaired_result"] == 0


def test_results_pair_with_open_calls_by_name_and_several_messages_make_one_result():
    conversation = _read(
        [
            node("q", None, "user"),
            node("c1", "q", "assistant", "{}", recipient="a"),
            node("c2", "c1", "assistant", "{}", recipient="b"),
            node("r2", "c2", "tool", "for b", name="b"),
            node("r2b", "r2", "tool", "more for b", name="b"),
            node("r1", "r2b", "tool", "for a", name="a"),
            node("z", "r1", "assistant"),
        ]
    )
    sent = by_key(conversation)["z"].sent
    assert [(item["call_id"], item["output"]) for item in sent] == [
        ("c2", [{"type": "text", "text": "for b"}, {"type": "text", "text": "more for b"}]),
        ("c1", "for a"),
    ]


@pytest.mark.rule("I4")
def test_a_call_without_result_and_a_result_without_call_are_kept_and_counted():
    conversation = _read(
        [
            node("q", None, "user"),
            node("r", "q", "tool", "alone", name="x"),
            node("c", "r", "assistant", "{}", recipient="y"),
        ]
    )
    assert conversation.report.counts["unpaired_call"] == conversation.report.counts["unpaired_result"] == 1
    assert [item["type"] for call in conversation.calls for item in call.sent + call.returned] == [
        "message",
        "tool_result",
        "tool_call",
    ]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"content_type": "execution_output", "text": "out"}, "out"),
        ({"content_type": "tether_quote", "text": "quoted", "url": "u"}, "quoted"),
        ({"content_type": "tether_browsing_display", "result": "page", "summary": None}, "page"),
        ({"content_type": "sonic_webpage", "text": "web", "title": "t"}, "web"),
        ({"content_type": "system_error", "name": "E", "text": "boom"}, "boom"),
        ({"content_type": "citable_code_output", "output_str": "rows"}, "rows"),
    ],
)
def test_a_tools_output_is_found_in_the_field_of_its_type(content, text):
    [item] = _with_content("tool", content)
    assert (item["type"], item["output"]) == ("tool_result", text)


@pytest.mark.rule("I4")
def test_what_the_items_do_not_say_is_kept_in_the_metadata():
    [call] = _read(
        [
            node(
                "r",
                None,
                "tool",
                content={"content_type": "tether_quote", "text": "quoted", "url": "u"},
                weight=0.0,
                metadata={"citations": [{"start_ix": 1}]},
            )
        ]
    ).calls
    kept = call.metadata["messages"]["r"]
    assert kept["content"] == {"content_type": "tether_quote", "url": "u"}
    assert kept["weight"] == 0.0
    assert kept["metadata"]["citations"] == [{"start_ix": 1}]


@pytest.mark.rule("I4")
def test_unknown_content_is_kept_raw_and_counted():
    entry = node("m", None, "assistant", content={"content_type": "hologram", "beams": [1, 2]})
    conversation = _read([node("q", None, "user"), entry | {"parent": "q"}])
    [call] = conversation.calls
    assert call.returned == [{"type": "raw", "format": "chatgpt", "data": entry["message"]}]
    assert conversation.report.counts["unknown_content"] == 1


def test_images_attachments_and_transcriptions_become_parts():
    parts = [
        "look",
        {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_1", "width": 8},
        {"content_type": "audio_transcription", "text": "spoken", "direction": "in"},
        {"content_type": "video", "x": 1},
    ]
    metadata = {"attachments": [{"id": "file_1", "name": "seen.png"}, {"id": "file_2", "name": "a.txt"}]}
    [item] = _with_content("user", {"content_type": "multimodal_text", "parts": parts}, metadata=metadata)
    assert [part["type"] for part in item["content"]] == ["text", "image", "text", "raw", "file"]
    assert item["content"][1]["extra"]["chatgpt"] == parts[1]
    assert item["content"][2]["text"] == "spoken"
    assert item["content"][4]["filename"] == "a.txt"


def test_custom_instructions_are_sent_as_system_and_begin_no_turn():
    conversation = _read(
        [
            node("x", None, "user", content={"content_type": "user_editable_context", "user_profile": "p"}),
            node("q", "x", "user", "hi"),
            node("a", "q", "assistant"),
        ]
    )
    [call] = conversation.calls
    assert [item["role"] for item in call.sent] == ["system", "user"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"metadata": {"finish_details": {"type": "stop"}}}, "stop"),
        ({"metadata": {"finish_details": {"type": "interrupted"}}, "status": "in_progress"}, "cancelled"),
        ({"metadata": {"finish_details": {"type": "max_tokens"}}}, "length"),
        ({"status": "in_progress"}, "incomplete"),
        ({"status": "finished_partial_completion"}, "length"),
        ({"end_turn": True}, "stop"),
        ({}, None),
    ],
)
def test_finish_reasons(fields, reason):
    [call] = _read([node("q", None, "user"), node("a", "q", "assistant", **fields)]).calls
    assert call.finish_reason == reason


def test_model_and_times_come_from_the_message_and_fall_back_to_the_conversation():
    conversation = _read(
        [
            node("q", None, "user", at=1756000001.5),
            node("a", "q", "assistant", at=1756000002.25, metadata={"model_slug": "o4-mini"}),
            node("b", "q", "assistant"),
        ],
        create_time=1756000000,
        update_time="2026-01-02T03:04:05Z",
        default_model_slug="gpt-5",
    )
    calls = by_key(conversation)
    assert (calls["a"].model, calls["b"].model, calls["a"].provider) == ("o4-mini", "gpt-5", "openai")
    assert calls["a"].created_at == datetime.fromtimestamp(1756000002.25, UTC)
    assert calls["b"].created_at == datetime.fromtimestamp(1756000001.5, UTC)
    assert conversation.created_at == datetime.fromtimestamp(1756000000, UTC)
    assert conversation.updated_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_links_use_node_ids_where_keys_and_message_ids_differ():
    record = chatgpt([], "a")
    record["mapping"] = {
        "key-1": node("q", None, "user", children=["a"], id="message-q"),
        "key-2": node("a", "q", "assistant", children=[]) | {"id": "a"},
    }
    conversation = chatgpt_reader.conversation(record, Report(None))
    [call] = conversation.calls
    assert (call.key, call.sent_keys, conversation.cursor_key) == ("a", ["q"], "a")
    assert call.metadata["messages"]["q"]["mapping_key"] == "key-1"
    assert conversation.report.counts["orphan"] == 0
    record["current_node"] = "message-q"
    pointed = chatgpt_reader.conversation(record, Report(None))
    assert pointed.cursor_key == "no_reply:q"


@pytest.mark.rule("I6")
def test_odd_text_is_given_as_it_stands():
    for said in ("\ud83d", "a\x00b", "\ue200cite\ue201", "😀", "\u2028", ""):
        [item] = _only(node("m", None, "user", said))
        assert item["content"] == said


@pytest.mark.rule("I4")
def test_a_conversation_without_mapping_is_skipped_with_the_reason():
    report = Report("x[1]")
    conversation = chatgpt_reader.conversation({"id": "c9", "title": "broken"}, report)
    assert conversation.calls == []
    assert (conversation.source_id, conversation.report.skipped) == ("c9", "it has no mapping of messages")
