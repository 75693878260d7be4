"""Items on their way into the store: checked, and turned into JSON text that comes back unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import BaseModel

from graphstore import jsontext
from graphstore.errors import InvalidInput, InvalidItems

ItemDict = dict[str, Any]
ItemsInput = str | bytes | Sequence[ItemDict | BaseModel]
"""Plain text (one message), JSON text of an array (bytes, kept verbatim), or a list of items."""


@dataclass(frozen=True, slots=True)
class ItemText:
    """Items as stored. ``text`` is a JSON array; the id lists let pairing work without parsing.

    ``exact`` marks text whose numbers a fast parser would change, see ``jsontext.loads_exact``.
    """

    text: str
    call_ids: tuple[str, ...]
    result_ids: tuple[str, ...]
    exact: bool
    count: int


NO_ITEMS = ItemText("[]", (), (), False, 0)


def encode(items: ItemsInput, *, role: str) -> ItemText:
    """Check items and encode them; a plain ``str`` becomes one message of ``role``.

    Raises ``InvalidItems`` naming the position of the first item that isn't one.
    """
    text: str | None = None
    if isinstance(items, str):
        listed: list[ItemDict] = [{"type": "message", "role": role, "content": items}]
    elif isinstance(items, bytes):
        parsed = jsontext.loads_exact(items)
        if not isinstance(parsed, list):
            raise InvalidItems(f"JSON text of items must be an array, this is {_name(parsed)}")
        listed, text = parsed, _verbatim(items)
    else:
        if not hasattr(items, "__iter__") or isinstance(items, dict):
            raise InvalidItems(f"items are text, JSON text or a list of items, not {type(items).__name__}")
        listed = [
            i.model_dump(exclude_unset=False, exclude_none=True) if isinstance(i, BaseModel) else i for i in items
        ]
    if not listed:
        return NO_ITEMS
    call_ids: list[str] = []
    result_ids: list[str] = []
    for position, item in enumerate(listed):
        _check(position, item)
        if item.get("type") == "tool_call":
            call_ids.append(jsontext.shield(item["call_id"]))
        elif item.get("type") == "tool_result":
            result_ids.append(jsontext.shield(item["call_id"]))
    try:
        fast, exact = orjson.dumps(listed).decode(), False
    except (TypeError, orjson.JSONEncodeError):
        fast, exact = jsontext.dumps(listed), True
    else:
        if "null" in fast:  # orjson writes NaN as null; the exact writer refuses it by name
            fast = jsontext.dumps(listed)
    return ItemText(text or fast, tuple(call_ids), tuple(result_ids), exact, len(listed))


def decode(text: str | bytes, *, exact: bool = False) -> list[ItemDict]:
    """The items of stored JSON text."""
    items: list[ItemDict] = jsontext.loads_exact(text) if exact else jsontext.loads(text)
    return items


def _verbatim(raw: bytes) -> str | None:
    """The text as it came, unless the database can't hold it."""
    try:
        return raw.decode().strip()
    except UnicodeDecodeError:
        return None


_STRINGS = {
    "message": ("role",),
    "tool_call": ("call_id", "name", "arguments"),
    "tool_result": ("call_id",),
}


def _check(position: int, item: Any) -> None:
    if not isinstance(item, dict):
        raise InvalidItems(f"item {position} is {_name(item)}; items are JSON objects")
    kind = item.get("type", "message" if "role" in item else None)
    if not isinstance(kind, str):
        raise InvalidItems(f"item {position} has no 'type' (message, tool_call, tool_result, reasoning, …)")
    for name in _STRINGS.get(kind, ()):
        if not isinstance(item.get(name), str):
            raise InvalidItems(f"item {position}, a {kind}, needs {name!r} as a string, not {_name(item.get(name))}")
    if kind == "message":
        if not isinstance(item.get("content"), str | list) or "tool_calls" in item or item["role"] == "tool":
            raise InvalidItems(
                f"item {position} is not a neutral message; convert a provider's own messages first: "
                "graphstore.parse(messages, 'openai-chat').items (or 'openai-responses', 'anthropic', 'gemini')"
            )
    elif kind == "tool_result" and not isinstance(item.get("output"), str | list):
        raise InvalidItems(f"item {position}, a tool_result, needs 'output' as a string or a list of parts")


def _name(value: Any) -> str:
    return "missing" if value is None else type(value).__name__


def as_object(value: dict[str, Any] | BaseModel | None, what: str) -> dict[str, Any] | None:
    """A JSON object from a model or a mapping; ``InvalidInput`` when it is neither."""
    if value is None or isinstance(value, dict):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_none=True)
    raise InvalidInput(f"{what} must be a JSON object, not {type(value).__name__}")
