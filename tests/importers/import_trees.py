"""Builders of small exports, and the check that a tree of calls says what the source's tree says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphstore.importers import ImportedCall, ImportedConversation, read


def node(
    key: str,
    parent: str | None,
    role: str | None,
    said: Any = None,
    *,
    children: list[str] | None = None,
    at: float | None = None,
    recipient: str = "all",
    name: str | None = None,
    content: dict[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """One entry of a ChatGPT mapping; ``role`` None gives one without a message."""
    entry: dict[str, Any] = {"id": key, "parent": parent, "message": None}
    if children is not None:
        entry["children"] = children
    if role is not None:
        entry["message"] = {
            "id": key,
            "author": {"role": role, "name": name, "metadata": {}},
            "create_time": at,
            "content": content or {"content_type": "text", "parts": [said if said is not None else f"text of {key}"]},
            "status": "finished_successfully",
            "recipient": recipient,
            "metadata": {},
        } | fields
    return entry


def chatgpt(nodes: list[dict[str, Any]], current: str | None = None, **fields: Any) -> dict[str, Any]:
    """A ChatGPT conversation of ``nodes`` (see ``node``)."""
    mapping = {entry["id"]: entry for entry in nodes}
    return {"conversation_id": "c1", "title": "t", "mapping": mapping, "current_node": current} | fields


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def imported(tmp_path: Path, value: Any) -> ImportedConversation:
    """The only conversation of an export that holds ``value``."""
    [conversation] = read(written(tmp_path / "export.json", value))
    return conversation


def by_key(conversation: ImportedConversation) -> dict[str, ImportedCall]:
    return {call.key: call for call in conversation.calls}


def path_keys(conversation: ImportedConversation, key: str | None) -> list[str]:
    """The source's message ids on the path from the root to the end of a call."""
    calls = by_key(conversation)
    path: list[list[str]] = []
    while key is not None:
        call = calls[key]
        path.append(call.sent_keys + call.returned_keys)
        key = call.parent_key
    return [message for part in reversed(path) for message in part]


def path_items(conversation: ImportedConversation, key: str | None) -> list[dict[str, Any]]:
    calls = by_key(conversation)
    path: list[list[dict[str, Any]]] = []
    while key is not None:
        call = calls[key]
        path.append(call.sent + call.returned)
        key = call.parent_key
    return [item for part in reversed(path) for item in part]


def source_paths(parents: dict[str, str | None]) -> dict[str, list[str]]:
    """For every leaf of a tree given by its parent links, the keys from its root down."""
    inner = set(parents.values())
    paths = {}
    for leaf in (key for key in parents if key not in inner):
        path = []
        at: str | None = leaf
        while at is not None:
            path.append(at)
            at = parents[at]
        paths[leaf] = path[::-1]
    return paths


def check_shape(conversation: ImportedConversation) -> None:
    """What must hold of any conversation: parents first, distinct keys, turns that are lines, a cursor that exists."""
    seen: dict[str, ImportedCall] = {}
    lines: set[tuple[str, int]] = set()
    for call in conversation.calls:
        assert call.key not in seen
        assert call.parent_key is None or call.parent_key in seen
        assert call.compacts_key is None or (call.compacts_key in seen and call.parent_key is None and call.readers)
        assert (call.turn_key, call.round) not in lines
        lines.add((call.turn_key, call.round))
        if call.round == 0:
            assert call.turn_key == call.key
        else:
            assert call.parent_key is not None
            above = seen[call.parent_key]
            assert (above.turn_key, above.round) == (call.turn_key, call.round - 1)
        assert (call.status == "succeeded") == bool(call.returned)
        seen[call.key] = call
    assert conversation.cursor_key is None or conversation.cursor_key in seen
