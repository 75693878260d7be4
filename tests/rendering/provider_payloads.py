"""Hypothesis strategies: item lists as a store may hold them, and payloads as the providers write them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

call_ids = st.sampled_from(["call_1", "call_2", "toolu_3"])
words = st.text("ab \n", min_size=1, max_size=6).filter(str.strip)
any_text = st.text(max_size=5)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(any_text, json_values, max_size=3)
BYTES = "QUJD"


def made(**fields: Any) -> st.SearchStrategy[Json]:
    """Objects of these fields; those whose value isn't a strategy are constant."""
    return st.fixed_dictionaries(
        {name: value if isinstance(value, st.SearchStrategy) else st.just(value) for name, value in fields.items()}
    )


# --- items of any kind, good and odd, as the store accepts them ---

neutral_part = st.one_of(
    made(type="text", text=any_text),
    made(type="image", url="https://example.org/a.png"),
    made(type="image", data=BYTES, media_type="image/png"),
    made(type="image", file_id="file-1", provider="openai"),
    made(type="file", data=BYTES, media_type="application/pdf", filename="a.pdf"),
    made(type="file", text=words),
    made(type="file", file_id="file_1", provider="anthropic"),
    made(type="file", file_id="gs://bucket/a.pdf", media_type="application/pdf", provider="gemini"),
    made(type="audio", data=BYTES, format="wav"),
    made(type="refusal", refusal=words),
)
odd_part = st.one_of(
    json_values,
    made(type="text", text=json_values),
    made(type=json_values, text=any_text),
    made(type="raw", format="anthropic", data=json_values),
    made(type="image", source=json_values),
    made(type="file", file=json_values),
    made(type="input_image", image_url=json_values),
    made(type="image", url=json_values, data=json_values),
    made(type="raw", format="gemini", data=json_values),
)
reasoning = st.one_of(
    made(type="reasoning", text=words),
    made(type="reasoning", text=words, signature="sig"),
    made(type="reasoning", encrypted="ENC", extra={"anthropic": {"type": "redacted_thinking"}}),
    made(type="reasoning", summary=["thought"], encrypted="ENC", extra={"openai-responses": {"id": "rs_1"}}),
    made(type="reasoning", text=words, signature="c2ln", extra={"gemini": {"thought": True}}),
)
messages = made(
    type="message",
    role=st.sampled_from(["user", "assistant", "system", "developer"]),
    content=any_text | st.lists(neutral_part, max_size=3),
)
tool_calls = made(type="tool_call", call_id=call_ids, name="search", arguments=any_text | st.just('{"q": 1}'))
tool_results = made(
    type="tool_result",
    call_id=call_ids,
    output=any_text | st.lists(neutral_part, max_size=2),
    is_error=st.booleans(),
)
usual_items = st.lists(messages | tool_calls | tool_results | reasoning, max_size=12)

odd_extra = st.dictionaries(st.sampled_from(["anthropic", "gemini", "openai-chat", "openai-responses"]), json_values)
odd_items = st.lists(
    st.one_of(
        messages,
        tool_calls,
        tool_results,
        reasoning,
        made(role=any_text, content=st.lists(odd_part, max_size=3), extra=odd_extra),
        made(type="tool_call", call_id=any_text, name=any_text, arguments=any_text, extra=odd_extra),
        made(type="tool_result", call_id=any_text, output=st.lists(odd_part, max_size=3), extra=odd_extra),
        made(type="reasoning", text=json_values, summary=json_values, encrypted=json_values, extra=odd_extra),
        made(type="raw", format=st.sampled_from(["openai-chat", "anthropic", "gemini", "chatgpt"]), data=json_values),
        made(type=words, text=json_values),
        made(type="web_search_call", id="ws_1"),
    ),
    max_size=10,
)

# --- payloads in the providers' own words ---

chat_text = made(type="text", text=any_text)
chat_user_part = st.one_of(
    chat_text,
    made(type="image_url", image_url=made(url="https://example.org/a.png", detail="high")),
    made(type="image_url", image_url=made(url=f"data:image/png;base64,{BYTES}")),
    made(type="input_audio", input_audio=made(data=BYTES, format="mp3")),
    made(type="file", file=made(file_data=f"data:application/pdf;base64,{BYTES}", filename="a.pdf")),
    made(type="file", file=made(file_id="file-1")),
)
chat_user = made(role="user", content=any_text | st.lists(chat_user_part, min_size=1, max_size=3)) | made(
    role="user", content=any_text, name="ann"
)
chat_instructions = made(
    role=st.sampled_from(["system", "developer"]),
    content=any_text | st.lists(chat_text, min_size=1, max_size=2),
)
chat_reply = st.one_of(
    made(role="assistant", content=any_text),
    made(role="assistant", content=st.lists(chat_text, min_size=1, max_size=2), name="bot"),
    made(role="assistant", content=st.none(), refusal=words),
    made(role="assistant", content=st.none(), audio=made(id="audio_1")),
    made(role="assistant", content=any_text, reasoning_content=words),
)
chat_call = made(type="function", function=made(name="search", arguments=any_text)) | made(
    type="custom", custom=made(name="shell", input=any_text)
)


@st.composite
def chat_round(draw: st.DrawFn) -> list[Json]:
    """An assistant message with calls, directly followed by their results in some order."""
    calls = draw(st.lists(chat_call, min_size=1, max_size=3))
    calls = [{"id": f"call_{n}"} | call for n, call in enumerate(calls)]
    message: Json = {"role": "assistant", "content": draw(st.none() | any_text), "tool_calls": calls}
    if draw(st.booleans()):
        message["reasoning_content"] = "because"
    content = any_text | st.lists(chat_text, min_size=1, max_size=2)
    results = [{"role": "tool", "tool_call_id": call["id"], "content": draw(content)} for call in calls]
    return [message, *draw(st.permutations(results))]


chat_messages = st.lists(
    chat_round() | st.one_of(chat_user, chat_instructions, chat_reply).map(lambda message: [message]),
    max_size=6,
).map(lambda groups: [message for group in groups for message in group])

responses_part = st.one_of(
    made(type="input_text", text=any_text),
    made(type="input_image", image_url="https://example.org/a.png", detail="low"),
    made(type="input_image", file_id="file-1", detail="auto"),
    made(type="input_file", file_data=f"data:application/pdf;base64,{BYTES}", filename="a.pdf"),
    made(type="input_file", file_url="https://example.org/a.pdf"),
)
responses_output_text = made(
    type="output_text",
    text=any_text,
    annotations=st.just([]) | st.just([{"type": "file_path", "file_id": "f", "index": 0}]),
)
responses_said = st.one_of(
    made(role="user", content=any_text | st.lists(responses_part, min_size=1, max_size=3)),
    made(type="message", role="developer", content=any_text),
    made(role="assistant", content=any_text),
    made(role="assistant", content=st.lists(made(type="output_text", text=any_text), min_size=1, max_size=2)),
    made(
        type="message",
        role="assistant",
        id="msg_1",
        status="completed",
        phase="final_answer",
        content=st.lists(responses_output_text | made(type="refusal", refusal=any_text), min_size=1, max_size=2),
    ),
)
responses_raw = st.one_of(
    made(type="web_search_call", id="ws_1", status="completed", action=json_objects),
    made(type="compaction", id="cmp_1", encrypted_content="ENC"),
    made(type="item_reference", id="msg_0"),
)


@st.composite
def responses_round(draw: st.DrawFn) -> list[Json]:
    """Reasoning, calls of both kinds, then their outputs in some order."""
    thought = draw(
        st.one_of(
            made(type="reasoning", id="rs_1", summary=[], encrypted_content="ENC"),
            made(
                type="reasoning",
                id="rs_2",
                summary=st.lists(made(type="summary_text", text=any_text), max_size=2),
            ),
        )
    )
    calls: list[Json] = []
    outputs: list[Json] = []
    for n in range(draw(st.integers(1, 3))):
        call_id, output = f"call_{n}", draw(any_text | st.lists(responses_part, min_size=1, max_size=2))
        if draw(st.booleans()):
            calls.append({"type": "custom_tool_call", "call_id": call_id, "name": "sh", "input": draw(any_text)})
            outputs.append({"type": "custom_tool_call_output", "call_id": call_id, "output": output})
        else:
            calls.append(
                {
                    "type": "function_call",
                    "id": f"fc_{n}",
                    "status": "completed",
                    "call_id": call_id,
                    "name": "f",
                    "arguments": draw(any_text),
                }
            )
            outputs.append({"type": "function_call_output", "call_id": call_id, "output": output})
    return [thought, *calls, *draw(st.permutations(outputs))]


responses_input = st.lists(
    responses_round() | (responses_said | responses_raw).map(lambda item: [item]), max_size=6
).map(lambda groups: [item for group in groups for item in group])

MARKER = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
maybe_marked = st.sampled_from([{}, MARKER])


def marked(block: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.builds(lambda block, marker: block | marker, block, maybe_marked)


anthropic_text = marked(made(type="text", text=words))
anthropic_media = marked(
    st.one_of(
        made(type="image", source=made(type="base64", media_type="image/png", data=BYTES)),
        made(type="image", source=made(type="url", url="https://example.org/a.png")),
        made(type="image", source=made(type="file", file_id="file_1")),
        made(type="document", source=made(type="base64", media_type="application/pdf", data=BYTES), title=words),
        made(type="document", source=made(type="text", media_type="text/plain", data=words), context="c"),
        made(type="document", source=made(type="content", content="text"), citations={"enabled": True}),
        made(type="search_result", source="s", title="t", content=[{"type": "text", "text": "x"}]),
    )
)
anthropic_user_blocks = st.lists(anthropic_text | anthropic_media, min_size=1, max_size=3)
anthropic_thinking = st.one_of(
    made(type="thinking", thinking=any_text, signature="sig"), made(type="redacted_thinking", data="DATA")
)
anthropic_server = made(type="server_tool_use", id="srvtoolu_1", name="web_search", input=json_objects)


@st.composite
def anthropic_messages(draw: st.DrawFn) -> list[Json]:
    """Alternating messages; each with calls is followed by a user message that begins with their results."""
    dialogue: list[Json] = []
    due: list[str] = []
    number = 0
    for _ in range(draw(st.integers(0, 4))):
        results = [
            {"type": "tool_result", "tool_use_id": call_id}
            | draw(st.sampled_from([{}, {"is_error": True}]))
            | draw(made(content=words | anthropic_user_blocks) | st.just({}))
            | draw(maybe_marked)
            for call_id in draw(st.permutations(due))
        ]
        spoken = draw(anthropic_user_blocks | st.just([])) if results else draw(words | anthropic_user_blocks)
        dialogue.append({"role": "user", "content": [*results, *spoken] if results else spoken})
        reply: list[Json] = draw(st.lists(anthropic_thinking, max_size=2))
        reply += draw(st.lists(anthropic_text | anthropic_server, max_size=2))
        due = []
        for _ in range(draw(st.integers(0, 2))):
            number += 1
            due.append(f"toolu_{number}")
            reply.append({"type": "tool_use", "id": due[-1], "name": "f", "input": draw(json_objects)})
        if reply[-1:] and reply[-1]["type"] in ("thinking", "redacted_thinking"):
            reply.append({"type": "text", "text": "so"})
        dialogue.append({"role": "assistant", "content": reply or draw(words)})
    return dialogue


anthropic_system = st.none() | words | st.lists(anthropic_text, min_size=1, max_size=2)

SIGNED = {"thoughtSignature": "c2ln"}
gemini_text = made(text=words)
gemini_media = st.one_of(
    made(inlineData=made(mimeType="image/png", data=BYTES)),
    made(inlineData=made(mimeType="application/pdf", data=BYTES, displayName=words)),
    made(inlineData=made(mimeType="audio/wav", data=BYTES)),
    made(inlineData=made(mimeType="audio/ogg", data=BYTES)),
    made(fileData=made(fileUri="gs://bucket/a.png", mimeType="image/png")),
    made(fileData=made(fileUri="https://generativelanguage.googleapis.com/v1beta/files/a", mimeType="application/pdf")),
    made(fileData=made(fileUri="https://example.org/a.mp4"), videoMetadata=made(startOffset="1s", fps=2)),
    made(
        inlineData=made(mimeType="image/png", data=BYTES, displayName="a"),
        mediaResolution=made(level="MEDIA_RESOLUTION_HIGH"),
    ),
)
gemini_reply_part = st.one_of(
    gemini_text,
    made(text=any_text, thoughtSignature="c2ln"),
    made(text=words, thought=True),
    made(text=words, thought=True, thoughtSignature="c2ln"),
    made(inlineData=made(mimeType="image/png", data=BYTES), thoughtSignature="c2ln"),
    made(executableCode=made(language="PYTHON", code="1+1")),
    made(codeExecutionResult=made(outcome="OUTCOME_OK", output="2")),
    made(toolCall=made(toolType="GOOGLE_SEARCH_WEB", id="t", args=json_objects)),
)
gemini_response = made(output=any_text) | made(error=any_text) | json_objects
gemini_system = st.none() | st.lists(gemini_text, min_size=1, max_size=2).map(lambda parts: {"parts": parts})


@st.composite
def gemini_contents(draw: st.DrawFn) -> list[Json]:
    """Alternating contents; each with calls is followed by a user content that begins with their responses."""
    contents: list[Json] = []
    due: list[Json] = []
    number = 0
    with_ids = draw(st.booleans())
    for _ in range(draw(st.integers(0, 4))):
        answers: list[Json] = []
        for call in due if not with_ids else draw(st.permutations(due)):
            answer = call | {"response": draw(gemini_response)}
            if draw(st.booleans()):
                answer["parts"] = [{"inlineData": {"mimeType": "image/png", "data": BYTES}}]
            if draw(st.booleans()):
                answer["scheduling"] = "SILENT"
            answers.append({"functionResponse": answer})
        spoken = draw(st.lists(gemini_text | gemini_media, min_size=0 if answers else 1, max_size=3))
        contents.append({"role": "user", "parts": [*answers, *spoken]})
        reply: list[Json] = draw(st.lists(gemini_reply_part, max_size=3))
        due = []
        for _ in range(draw(st.integers(0 if reply else 1, 2))):
            number += 1
            due.append({"name": draw(st.sampled_from(["f", "g"]))} | ({"id": f"id.{number}"} if with_ids else {}))
            call = {"functionCall": due[-1] | {"args": draw(json_objects)}}
            reply.append(call | draw(st.sampled_from([{}, SIGNED])))
        contents.append({"role": "model", "parts": reply})
    return contents
