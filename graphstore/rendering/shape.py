"""What the provider shapes share: the result of parsing, and where an item keeps what has no neutral word.

A field that only one provider knows is kept beside the neutral ones as ``extra: {"<format>": {field:
value}}``, on the item, content part or tool it came with. It is put back when rendering to that format and
ignored by the others. A missing field and one that is ``null`` are the same. What can't be said in neutral
words at all is kept whole as ``{"type": "raw", "format": "<format>", "data": …}``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from graphstore.errors import InvalidInput

Json = dict[str, Any]

ITEMS = "items"
OPENAI_CHAT = "openai-chat"
OPENAI_RESPONSES = "openai-responses"
ANTHROPIC = "anthropic"
GEMINI = "gemini"

PROVIDERS = (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI)

ROLES = ("user", "assistant", "system", "developer")

OPENING = "(earlier messages are not shown)"
"""The user's text before an assistant's message that would otherwise be the first."""

# What the SDKs' parsing conveniences add to a response; the API refuses it in a request.
_CLIENT_SIDE = frozenset({"parsed", "parsed_arguments", "parsed_output"})


@dataclass(frozen=True, slots=True)
class Parsed:
    """A provider's payload in neutral form.

    ``system`` is the system prompt where the payload keeps it apart as plain text, ``tools`` the tool
    definitions (neutral, or in a provider's own shape where they aren't functions); ``None`` where it has
    none.
    """

    items: list[Json]
    system: str | None = None
    tools: list[Json] | None = None


def plain(value: Any) -> Any:
    """The JSON form of an SDK object; anything else unchanged."""
    if isinstance(value, dict | list | str) or value is None:
        return value
    if hasattr(value, "to_dict"):  # the SDKs' own: fields by their API names, only those that were received
        return value.to_dict()
    if hasattr(value, "model_dump"):
        return value.model_dump()
    return list(value) if isinstance(value, tuple) else value


def as_list(value: Any, what: str) -> list[Any]:
    """``value`` if it is a list (SDK objects in it turned into JSON); else ``InvalidInput``."""
    value = plain(value)
    if not isinstance(value, list):
        raise InvalidInput(
            f"{what!r} must be a list, not {type(value).__name__}; pass the request or response as the provider "
            "gave it, or the bare list of what was said"
        )
    return [plain(element) for element in value]


def as_object(value: Any, what: str) -> Json:
    """``value`` if it is a JSON object; else ``InvalidInput``."""
    value = plain(value)
    if not isinstance(value, dict):
        raise InvalidInput(
            f"{what} is {value!r:.80}, not a JSON object; check that the payload is of the format it is parsed as"
        )
    return value


def rest(native: Json, *known: str) -> Json:
    """The fields of ``native`` that have no neutral word."""
    return {
        name: value
        for name, value in native.items()
        if value is not None and name not in known and name not in _CLIENT_SIDE
    }


def with_extra(neutral: Json, format: str, fields: Json) -> Json:
    """``neutral`` with ``fields`` kept for ``format``."""
    if fields:
        neutral["extra"] = {format: fields}
    return neutral


def extra_of(neutral: Json, format: str) -> Json:
    """What ``neutral`` keeps for ``format``."""
    extra = neutral.get("extra")
    fields = extra.get(format) if isinstance(extra, dict) else None
    return fields if isinstance(fields, dict) else {}


def has_extra(neutral: Json, format: str) -> bool:
    """Whether ``neutral`` was parsed from ``format`` and kept something of it."""
    extra = neutral.get("extra")
    return isinstance(extra, dict) and isinstance(extra.get(format), dict)


def raw(format: str, data: Any) -> Json:
    """An item or part that has no neutral form."""
    return {"type": "raw", "format": format, "data": data}


def kind_of(item: Json) -> str:
    """``message``, ``tool_call``, ``tool_result``, ``reasoning``, or the item's own type."""
    kind = item.get("type", "message")
    return kind if isinstance(kind, str) else ""


def role_of(item: Json) -> str:
    """Who said a message; a role that no provider knows reads as the user's."""
    role = item.get("role")
    return role if role in ROLES else "user"


def given_back(value: Json, format: str, own_types: frozenset[str] = frozenset()) -> Json | None:
    """The provider's own object: the data of a raw item or part, or one kept unwrapped by its own type."""
    if value.get("type") == "raw":
        data = value.get("data")
        return data if value.get("format") == format and isinstance(data, dict) else None
    kind = value.get("type")
    return value if isinstance(kind, str) and kind in own_types else None


def text_of(value: Json) -> str | None:
    """The plain text that an unknown item or part carries, if any."""
    for holder in (value, value.get("data")):
        if isinstance(holder, dict) and isinstance(holder.get("text"), str):
            return str(holder["text"])
    return None


def speaker_of(item: Json) -> str:
    """The role that the text of an unknown item is rendered as: its own, else the assistant's."""
    for holder in (item, item.get("data")):
        if isinstance(holder, dict) and holder.get("role") in ROLES:
            return str(holder["role"])
    return "assistant"


def respelled(word: str) -> str:
    """A name or id in the letters that providers allow, others as ``_``: ``browser.search`` is ``browser_search``."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", word) or "_"
