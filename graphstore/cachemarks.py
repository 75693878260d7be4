"""Cache markers in a request of Anthropic's, where a plan wants them (rule P3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

Json = dict[str, Any]

MARKER: Json = {"type": "ephemeral"}
MARKED = ("message", "tool_call", "tool_result")
"""Items whose block can carry a marker; reasoning can't, and what is stored raw is nobody's to change."""


def on_items(items: Sequence[Json], places: Collection[int | str]) -> list[Json]:
    """``items`` with markers at these positions only, or at the nearest before that can carry one.

    Markers that items carry themselves are left out: a request may have four. Nothing passed in is changed.
    """
    wanted = {_carrier(items, place) for place in places if isinstance(place, int)}
    return [_marked(_bare(item)) if index in wanted else _bare(item) for index, item in enumerate(items)]


def on_head(request: Json) -> Json:
    """A rendered request with a marker after its tools and system prompt."""
    if system := request.get("system"):
        blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
        return request | {"system": _last_marked(blocks)}
    if tools := request.get("tools"):
        return request | {"tools": _last_marked(tools)}
    return request


def _carrier(items: Sequence[Json], place: int) -> int | None:
    while place >= 0:
        if place < len(items) and items[place].get("type", "message") in MARKED and _says(items[place]):
            return place
        place -= 1
    return None


def _says(item: Json) -> bool:
    """Whether the item becomes a block of its own among the messages."""
    if item.get("type", "message") != "message":
        return True
    content = item.get("content")
    said = content if isinstance(content, str) else "".join(str(part.get("text", "x")) for part in content or ())
    return item.get("role") in ("user", "assistant") and bool(said.strip())


def _bare(item: Json) -> Json:
    bare = _unmarked(item)
    for name in ("content", "output"):
        if isinstance(bare.get(name), list):
            bare[name] = [_unmarked(part) if isinstance(part, dict) else part for part in bare[name]]
    return bare


def _unmarked(neutral: Json) -> Json:
    """Without the marker that somebody wrote on it, or that it came with from Anthropic."""
    bare = {name: value for name, value in neutral.items() if name != "cache_control"}
    extra = bare.get("extra")
    if isinstance(extra, dict) and isinstance(extra.get("anthropic"), dict) and "cache_control" in extra["anthropic"]:
        kept = {name: value for name, value in extra["anthropic"].items() if name != "cache_control"}
        bare["extra"] = extra | {"anthropic": kept}
    return bare


def _marked(item: Json) -> Json:
    if item.get("type", "message") != "message":
        return item | {"cache_control": MARKER}
    content = item["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    for index in reversed(range(len(parts))):
        if parts[index].get("type") in ("text", "image", "file"):
            parts[index] = parts[index] | {"cache_control": MARKER}
            break
    return item | {"content": parts}


def _last_marked(parts: Sequence[Json]) -> list[Json]:
    return [*parts[:-1], parts[-1] | {"cache_control": MARKER}]
