"""Inspect AI samples: ``input`` is the prompt at a branch point, ``target`` the accepted answer, as a reference.

Inspect's tool calls are flat (``function`` is the name, ``arguments`` an object) and need ids, which are numbered along
the transcript so that nothing in it names the store. The abandoned answers are in ``metadata.rejected``; the tools that
were offered, which a sample has no place for, in ``metadata.tools``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import orjson

from graphstore.analytics.formats import chat
from graphstore.analytics.formats.projection import NotExpressible
from graphstore.analytics.formats.trl import ends_well, text, tools
from graphstore.context import Context
from graphstore.items import ItemDict
from graphstore.rendering import render
from graphstore.rendering.arguments import input_of

__all__ = ["CARD", "FILE", "completion", "ends_well", "lines", "prompt", "text", "tools"]

Json = dict[str, Any]

FILE = "samples.jsonl"

CARD = """\
  - name: id
    dtype: string
  - name: input
    list: json
  - name: target
    dtype: string
  - name: metadata
    dtype: json
"""


def prompt(context: Context) -> list[Json]:
    """The messages that the call was sent, its system prompt first. Raises ``NotExpressible``."""
    return list(_messages(chat.messages(context.render("openai-chat")["messages"])))


def completion(returned: Sequence[ItemDict]) -> list[Json]:
    """What one call returned, up to anything that isn't the model's own. Raises ``NotExpressible``."""
    said = _messages(chat.messages(render(returned, "openai-chat")["messages"]))
    own = takewhile(lambda message: message["role"] == "assistant", said)
    return [message for message in own if message["content"] or "tool_calls" in message]


def lines(group: Json, told: Sequence[tuple[Json, Json, Json]], is_new: Callable[..., bool]) -> Iterator[bytes]:
    """The one sample of a branch point, unless the same question with the same reference is in the set already."""
    if not is_new("sample", group["prompt_key"], group["chosen_key"]):
        return
    accepted = orjson.loads(group["chosen"])
    rejected = [orjson.loads(pair["rejected"]) for pair, _, _ in told]
    _, flat, meta = told[0]
    metadata = {
        **{name: value for name, value in meta.items() if not name.startswith(("rejected", "row_id", "group_"))},
        "evidence_grades": [each["evidence_grade"] for _, each, _ in told],
        "rejected": [_answer(messages) for messages in rejected],
        "rejected_node_ids": [each["rejected_node_id"] for _, _, each in told],
        "accepted_messages": accepted,
        "rejected_messages": rejected,
        "tools": orjson.loads(group["tools"]),
    }
    sample = {"id": flat["group_id"], "input": orjson.loads(group["prompt"]), "target": _answer(accepted)}
    yield (text({**sample, "metadata": metadata}) + "\n").encode()


def _messages(messages: Iterable[Json]) -> Iterator[Json]:
    names: dict[str, tuple[str, str]] = {}
    for message in messages:
        if not isinstance(message["content"], str | None):
            message["content"] = _plain(message["content"])
        written: Json = {"role": message["role"], "content": message["content"] or ""}
        if message["role"] == "tool":
            call_id, name = names.get(message["tool_call_id"], ("call_0", ""))
            written |= {"tool_call_id": call_id, "function": name}
        elif "tool_calls" in message:
            calls = []
            for call in message["tool_calls"]:
                function = call["function"]
                arguments = input_of(function["arguments"])
                if arguments == {"_raw": function["arguments"]}:
                    raise NotExpressible("tool call arguments that are not a JSON object")
                number = f"call_{len(names) + 1}"
                names[call["id"]] = number, function["name"]
                calls.append({"id": number, "function": function["name"], "arguments": arguments})
            written["tool_calls"] = calls
        yield written


def _plain(parts: Sequence[Json]) -> str:
    texts = [part.get("text") for part in parts]
    if not all(isinstance(said, str) for said in texts):
        raise NotExpressible("content that is not text")
    return "".join(str(said) for said in texts)


def _answer(messages: Sequence[Json]) -> str:
    """An answer as text: what was said, else the calls that were made, as JSON."""
    said = "\n".join(message["content"] for message in messages if message["content"])
    calls = [
        {"function": call["function"], "arguments": call["arguments"]}
        for message in messages
        for call in message.get("tool_calls", ())
    ]
    return said or text(calls)
