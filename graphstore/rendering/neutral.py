"""The neutral items themselves, as the store keeps them (see ``graphstore.models``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphstore.rendering.shape import Json, Parsed, as_list, as_object, plain


def render(items: Sequence[Json], system: str | None, tools: Sequence[Json] | None) -> Json:
    """``{"items": […], "system"?, "tools"?}``, every item as it is."""
    payload: Json = {"items": list(items)}
    if system is not None:
        payload["system"] = system
    if tools:
        payload["tools"] = list(tools)
    return payload


def parse(payload: Any) -> Parsed:
    """Items from what ``render`` gives, or a bare list of them (dicts or ``graphstore.models`` objects)."""
    payload = plain(payload)
    if not isinstance(payload, dict):
        payload = {"items": payload}
    items = [as_object(item, f"item {n}") for n, item in enumerate(as_list(payload.get("items"), "items"))]
    tools = payload.get("tools")
    return Parsed(items, payload.get("system"), None if tools is None else as_list(tools, "tools"))
