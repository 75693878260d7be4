"""Where a held context ends and what would make it stale, as one opaque text (rule W7). Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson

from graphstore.errors import InvalidInput


class Bookmark(NamedTuple):
    """The end of a context that somebody holds.

    ``node_id`` is its last node (``None``: it was empty), ``readers`` the names by which compactions were read.
    ``owners`` are the conversations that own the path, each with how often data had been removed from it;
    ``unsettled`` the nodes that could still be completed; ``open`` the ids of its tool calls that had no result.
    """

    node_id: str | None
    readers: tuple[str, ...]
    owners: frozenset[tuple[str, int]]
    unsettled: frozenset[str]
    open: frozenset[str]

    def encoded(self) -> str:
        """The bookmark as text."""
        parts = [self.node_id, self.readers, sorted(self.owners), sorted(self.unsettled), sorted(self.open)]
        return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")

    def answered(self, tail: Iterable[tuple[Sequence[str], Sequence[str]]]) -> bool:
        """Whether a call of the held part gets its result from the tail: ``(result_ids, call_ids)`` of its nodes."""
        waiting: dict[str, int] = {}
        for results, calls in tail:
            for call_id in results:
                if waiting.get(call_id):
                    waiting[call_id] -= 1
                elif call_id in self.open:
                    return True
            for call_id in calls:
                waiting[call_id] = waiting.get(call_id, 0) + 1
        return False


def decoded(text: str) -> Bookmark:
    """The bookmark that a text stands for. Raises ``InvalidInput`` when it is none."""
    try:
        node_id, readers, owners, unsettled, waiting = orjson.loads(
            base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        )
        made = Bookmark(
            node_id,
            tuple(readers),
            frozenset((owner, removals) for owner, removals in owners),
            frozenset(unsettled),
            frozenset(waiting),
        )
    except (TypeError, ValueError, binascii.Error):
        made = None
    if made is None or not _is_whole(made):
        raise InvalidInput(f"{text!r:.80} is not a bookmark; use context.bookmark, or pass the context itself")
    return made


def _is_whole(made: Bookmark) -> bool:
    names = [*made.readers, *made.unsettled, *made.open, *(owner for owner, _ in made.owners)]
    return (
        (made.node_id is None or isinstance(made.node_id, str))
        and all(isinstance(name, str) for name in names)
        and all(isinstance(removals, int) for _, removals in made.owners)
    )
