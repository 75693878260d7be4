"""TRL's preference rows in their explicit form: ``prompt``, ``chosen``, ``rejected``, each a list of messages.

Messages are those a Hugging Face chat template takes: ``content`` is a string, a tool call's ``arguments`` an object,
and nothing in them names the store (a template must see the same bytes for the same words). Reasoning is left out on
both sides. ``tools`` is a JSON string (``[]`` where there are none), because Arrow pads lists of objects with nulls;
``meta`` is one for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import orjson

from graphstore.analytics.formats.projection import NotExpressible
from graphstore.context import Context
from graphstore.items import ItemDict
from graphstore.rendering import render
from graphstore.rendering.arguments import input_of
from graphstore.rendering.tools import to_chat

Json = dict[str, Any]

FILE = "preferences.jsonl"

CARD = """\
  - name: prompt
    list: json
  - name: chosen
    list: json
  - name: rejected
    list: json
  - name: tools
    dtype: string
  - name: row_id
    dtype: string
  - name: group_id
    dtype: string
  - name: group_weight
    dtype: float64
  - name: context_verified
    dtype: bool
  - name: choice_evidence
    dtype: string
  - name: evidence_grade
    dtype: string
  - name: meta
    dtype: string
"""

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


def prompt(context: Context) -> list[Json]:
    """The messages that the call was sent, its system prompt first. Raises ``NotExpressible``."""
    return list(messages(context.render("openai-chat")["messages"]))


def ends_well(messages: Sequence[Json]) -> bool:
    """Whether an answer can follow: after the user's or a tool's message."""
    return bool(messages) and messages[-1]["role"] in {"user", "tool"}


def completion(returned: Sequence[ItemDict]) -> list[Json]:
    """What one call returned, up to anything that isn't the model's own. Raises ``NotExpressible``.

    Empty when nothing visible was returned.
    """
    own = takewhile(lambda said: said["role"] == "assistant", messages(render(returned, "openai-chat")["messages"]))
    return [message for message in own if message["content"] or "tool_calls" in message]


def tools(context: Context) -> str:
    """The functions that the call could use, as JSON text; a provider's own tools are left out."""
    functions = [to_chat(tool) for tool in context.settings.tools or ()]
    return text([function for function in functions if function.get("type") == "function"])


def row(prompt: str, chosen: str, rejected: str, tools: str, flat: Json, meta: Json) -> bytes:
    """One line, from the JSON texts of its messages. The columns are the same in every row, in this order."""
    columns = {"tools": tools, **flat, "meta": text(meta)}
    rest = text(columns)[1:]
    return f'{{"prompt":{prompt},"chosen":{chosen},"rejected":{rejected},{rest}\n'.encode()


def lines(group: Json, told: Sequence[tuple[Json, Json, Json]], is_new: Callable[..., bool]) -> Iterator[bytes]:  # noqa: ARG001
    """A row for each pair of a branch point."""
    for pair, flat, meta in told:
        yield row(group["prompt"], group["chosen"], pair["rejected"], group["tools"], flat, meta)


def messages(rendered: Iterable[Json]) -> Iterator[Json]:
    """Rendered messages in this format's words, one for one. Raises ``NotExpressible`` at the first that has none."""
    names: dict[str, str] = {}
    for message in rendered:
        role = _ROLES.get(message["role"])
        if role is None:
            raise NotExpressible(f"a message of role {message['role']!r}")
        plain: Json = {"role": role}
        if role == "tool":
            plain["name"] = names.get(message.get("tool_call_id", ""), "")
        plain["content"] = _content(message.get("content"))
        calls = message.get("tool_calls")
        if role == "assistant" and calls:
            names |= {call["id"]: _called(call)["name"] for call in calls}
            plain["tool_calls"] = [{"type": "function", "function": _called(call)} for call in calls]
        yield plain


def _content(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for part in content:
        text = part.get("text", part.get("refusal"))
        if part.get("type") not in {"text", "refusal"} or not isinstance(text, str):
            raise NotExpressible(f"content of type {part.get('type')!r}")
        texts.append(text)
    return "".join(texts)


def _called(call: Json) -> Json:
    if call.get("type", "function") != "function":
        raise NotExpressible(f"a tool call of type {call.get('type')!r}")
    function = call["function"]
    arguments = input_of(function["arguments"])
    if arguments == {"_raw": function["arguments"]}:
        raise NotExpressible("tool call arguments that are not a JSON object")
    return {"name": function["name"], "arguments": arguments}


def text(value: Any) -> str:
    """JSON text that any reader takes.

    Raises ``NotExpressible`` for lone surrogates and integers beyond 64 bits: one such row would stop a reader of the
    whole file.
    """
    try:
        return orjson.dumps(value).decode()
    except TypeError as error:
        raise NotExpressible(f"a value that other programs can't read ({error})") from None
