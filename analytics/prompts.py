"""The context that a call on a path was sent, from the path's texts, without asking the store again. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphstore import items, jsontext
from graphstore.analytics.preferences import Reply
from graphstore.context import Context, Settings
from graphstore.items import ItemDict
from graphstore.segments import Segment, extended

Readers = tuple[str, ...]
EVERYONE: Readers = ("*",)


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one conversation's rows; items are JSON arrays as stored, ``None`` where nothing was returned.

    The lists run along the path, root first. ``compactions`` gives the readers of those on it, ``exact`` the nodes
    whose text needs the exact parser, ``returned_by`` what each rejected node returned, ``settings`` values by hash.
    """

    ids: list[str]
    sent: list[str]
    returned: list[str | None]
    call_ids: list[list[str] | None]
    result_ids: list[list[str] | None]
    compactions: dict[str, list[str]]
    exact: frozenset[str]
    returned_by: dict[str, str]
    settings: dict[str, Any]


def readers_of(reply: Reply) -> Readers:
    """Under which names the call could read compactions."""
    options = jsontext.loads(reply.options) if reply.options else {}
    return tuple(options.get("readers") or EVERYONE)


def contexts(texts: Texts, calls: Sequence[tuple[int, Reply]]) -> dict[int, Context]:
    """The contexts of calls on the path, by their places: what stood above each, then what it newly sent.

    A compaction that the call could read stands for all above it, as it did when the call was made.
    """
    found: dict[int, Context] = {}
    for readers in {readers_of(reply) for _, reply in calls}:
        wanted = {place: reply for place, reply in calls if readers_of(reply) == readers}
        above: Segment | None = None
        for place in range(max(wanted) + 1):
            if place in wanted:
                sent = items.encode(texts.sent[place].encode(), role="user")
                found[place] = Context(above, sent, _settings(texts, wanted[place]))
            above = _below(texts, above, place, readers)
    return found


def _below(texts: Texts, above: Segment | None, place: int, readers: Readers) -> Segment:
    node, exact = texts.ids[place], texts.ids[place] in texts.exact
    if node not in texts.compactions:
        return extended(
            above,
            node,
            frozenset(),
            texts.sent[place],
            texts.returned[place],
            texts.call_ids[place],
            texts.result_ids[place],
            exact,
        )
    if any(reader in texts.compactions[node] for reader in readers):
        return extended(None, node, frozenset(), "[]", texts.returned[place], None, None, exact)
    return extended(above, node, frozenset(), "[]", "[]", None, None, exact)


def _settings(texts: Texts, reply: Reply) -> Settings:
    return Settings(
        system=texts.settings.get(reply.system_hash or ""),
        tools=texts.settings.get(reply.tools_hash or ""),
        response_format=texts.settings.get(reply.response_format_hash or ""),
        system_hash=reply.system_hash,
        tools_hash=reply.tools_hash,
        response_format_hash=reply.response_format_hash,
    )


def returned_items(texts: Texts, node_id: str, text: str | None) -> list[ItemDict]:
    """The items that a node returned."""
    return items.decode(text or "[]", exact=node_id in texts.exact)
