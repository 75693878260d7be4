"""Tool definitions. Neutral: ``{"name", "description"?, "parameters": <JSON schema>, "strict"?}``.

Anything in another shape (a provider's own tool, such as web search) passes through unchanged, both ways.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeGuard

from graphstore.rendering.shape import (
    ANTHROPIC,
    GEMINI,
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


def to_gemini(tools: Iterable[Json]) -> list[Json]:
    """As Gemini takes them: all functions in one tool, where the first of them stands."""
    sent: list[Json] = []
    declarations: list[Json] = []
    for tool in tools:
        if not is_neutral(tool):
            sent.append(tool)
            continue
        if not declarations:
            sent.append({"functionDeclarations": declarations})
        fields = dict(extra_of(tool, GEMINI))
        chosen = _chosen(tool, fields.pop("schema", None) or "parametersJsonSchema")
        chosen.pop("strict", None)
        declarations.append(chosen | {"name": gemini_name(tool["name"])} | fields)
    return sent


def from_gemini(tool: Json) -> list[Json]:
    """Neutral ones for the functions that a tool declares, and the rest of it, if any, as it is."""
    named = "functionDeclarations" if "functionDeclarations" in tool else "function_declarations"
    declared = tool.get(named)
    if not isinstance(declared, list) or not all(_names(function) for function in declared):
        return [tool]
    others = rest(tool, named)
    return [_from_declaration(function) for function in declared] + ([others] if others else [])


def _from_declaration(function: Json) -> Json:
    function = {_SDK_NAMES.get(name, name): value for name, value in function.items()}
    schema = "parametersJsonSchema" if function.get("parametersJsonSchema") is not None else "parameters"
    fields = rest(function, "name", "description", schema)
    tool = _kept(function, schema)
    if schema == "parameters" and "parameters" in tool:
        tool["parameters"] = _lower_types(tool["parameters"])
        fields["schema"] = "parameters"
    return with_extra(tool, GEMINI, fields)


# As google-genai's objects and dictionaries name them.
_SDK_NAMES = {"parameters_json_schema": "parametersJsonSchema", "response_json_schema": "responseJsonSchema"}

_OPENAPI_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})


def _lower_types(schema: Any) -> Any:
    """A schema with types in JSON Schema's spelling, which Gemini reads as well as its own ``"OBJECT"``."""
    if isinstance(schema, list):
        return [_lower_types(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: value.lower() if name == "type" and isinstance(value, str) and value in _OPENAPI_TYPES
        # what these hold is data of the caller's, not schema
        else value if name in ("enum", "default", "example") else _lower_types(value)
        for name, value in schema.items()
    }  # fmt: skip


def gemini_name(name: str) -> str:
    """A name in the letters that providers allow, beginning with a letter or ``_``, as Gemini demands."""
    name = respelled(name)
    return name if name[0].isalpha() or name[0] == "_" else f"_{name}"


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
