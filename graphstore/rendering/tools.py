"""Tool definitions. Neutral: ``{"name", "description"?, "parameters": <JSON schema>, "strict"?}``.

Anything in another shape (a provider's own tool, such as web search) passes through unchanged, both ways.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from graphstore.rendering.shape import (
    ANTHROPIC,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    Json,
    extra_of,
    respelled,
    rest,
    with_extra,
)

_NO_PARAMETERS: Json = {"type": "object", "properties": {}}


def is_neutral(tool: Json) -> bool:
    """Whether a tool definition is in neutral form."""
    return isinstance(tool.get("name"), str) and not {"type", "function", "input_schema"} & set(tool)


def to_chat(tool: Json) -> Json:
    """As Chat Completions takes it."""
    if not is_neutral(tool):
        return tool
    fields = dict(extra_of(tool, OPENAI_CHAT))
    outer = fields.pop("tool", {})
    return {"type": "function", **outer, "function": {**_chosen(tool, "parameters"), **fields}}


def from_chat(tool: Json) -> Json:
    """Neutral, if it is a function."""
    function = tool.get("function")
    if tool.get("type") != "function" or not _names(function):
        return tool
    fields = rest(function, *_NEUTRAL)
    outer = rest(tool, "type", "function")
    return with_extra(_kept(function, "parameters"), OPENAI_CHAT, fields | ({"tool": outer} if outer else {}))


def to_responses(tool: Json) -> Json:
    """As the Responses API takes it; not strict unless asked (its own default is strict, Chat's is not)."""
    if not is_neutral(tool):
        return tool
    fields = dict(extra_of(tool, OPENAI_RESPONSES))
    function = {"type": "function", "parameters": _NO_PARAMETERS, **_chosen(tool, "parameters")}
    if not fields.pop("default_strict", False):
        function.setdefault("strict", False)
    return function | fields


def from_responses(tool: Json) -> Json:
    """Neutral, if it is a function."""
    if tool.get("type") != "function" or not _names(tool):
        return tool
    fields = rest(tool, "type", *_NEUTRAL)
    if tool.get("strict") is None:
        fields["default_strict"] = True
    return with_extra(_kept(tool, "parameters"), OPENAI_RESPONSES, fields)


def to_anthropic(tool: Json) -> Json:
    """As Anthropic takes it."""
    if not is_neutral(tool):
        return tool
    return {"input_schema": _NO_PARAMETERS, **_chosen(tool, "input_schema"), **extra_of(tool, ANTHROPIC)}


def from_anthropic(tool: Json) -> Json:
    """Neutral, if it is a tool of the caller's own."""
    if tool.get("type") not in (None, "custom") or not _names(tool) or "input_schema" not in tool:
        return tool
    fields = rest(tool, "name", "description", "input_schema", "strict")
    return with_extra(_kept(tool, "input_schema"), ANTHROPIC, fields)


_NEUTRAL = ("name", "description", "parameters", "strict")


def _names(function: Any) -> TypeGuard[Json]:
    return isinstance(function, dict) and isinstance(function.get("name"), str)


def _chosen(tool: Json, schema_name: str) -> Json:
    """The neutral fields, the schema under the provider's name for it, the tool's own name as calls spell it."""
    renamed = {"parameters": schema_name}
    chosen = {renamed.get(name, name): tool[name] for name in _NEUTRAL if tool.get(name) is not None}
    return chosen | {"name": respelled(tool["name"])}


def _kept(native: Json, schema_name: str) -> Json:
    """The neutral fields of a provider's tool."""
    sources = {"parameters": schema_name}
    return {
        name: native[sources.get(name, name)] for name in _NEUTRAL if native.get(sources.get(name, name)) is not None
    }
