"""Ids as people type and read them: a few characters stand for the whole.

Ids made in the same minute share their first half, so an ending is as good as a beginning, and the short form shown is
the ending.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from graphstore import jsontext, queries
from graphstore.cli.plain import one_line
from graphstore.errors import ConversationNotFound, InvalidInput, NodeNotFound
from graphstore.store import GraphStore

SHORTEST = 4
SHOWN = 8
_LISTED = 8
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def conversation(store: GraphStore, part: str) -> str:
    """The id of the one conversation that ``part`` names.

    Raises ``ConversationNotFound``, or ``InvalidInput`` when it names several.
    """
    rows = store.session.rows(queries.CONVERSATIONS_LIKE, part=part, limit=1000)
    titles = {row["id"]: jsontext.unshield(row["title"] or "") for row in rows}
    found = _one(part, titles, "conversations")
    if found is None:
        raise ConversationNotFound(part, store.workspace)
    return found


def node(store: GraphStore, conversation_id: str, part: str) -> str:
    """The id of the one node of a conversation that ``part`` names; raises as ``conversation``."""
    rows = store.session.rows(queries.NODES_LIKE, conversation_id=conversation_id, part=part, limit=1000)
    found = _one(part, {row["id"]: row["kind"] for row in rows}, "nodes")
    if found is None:
        raise NodeNotFound(part, f"conversation {conversation_id!r}")
    return found


def tombstone(store: GraphStore, conversation_id: str, part: str) -> str:
    """The id of the one hidden branch of a conversation that ``part`` names; raises as ``conversation``."""
    hidden = {one.node_id: "hidden branch" for one in store.tombstones(conversation_id)}
    fitting = {id: words for id, words in hidden.items() if id.startswith(part) or id.endswith(part)}
    found = _one(part, fitting, "hidden branches")
    if found is None:
        raise NodeNotFound(part, f"the hidden branches of conversation {conversation_id!r}")
    return found


def _one(part: str, candidates: dict[str, str], what: str) -> str | None:
    if part in candidates:
        return part
    if len(part) < SHORTEST:
        raise InvalidInput(f"{part!r} is too short to name one of the {what}; give at least {SHORTEST} characters")
    if len(candidates) > 1:
        listed = "".join(
            f"\n  {one_line(id)}  {one_line(words)[:60]}" for id, words in list(candidates.items())[:_LISTED]
        )
        more = f"\n  and {len(candidates) - _LISTED} more" if len(candidates) > _LISTED else ""
        raise InvalidInput(f"{part!r} names {len(candidates)} {what}; give more characters of one of:{listed}{more}")
    return next(iter(candidates), None)


def short(ids: Iterable[str]) -> dict[str, str]:
    """The form to show for each id: the shortest ending of 8 or more characters that tells all of them apart.

    Ids of the caller's own making stay whole: they mean something.
    """
    given = list(ids)
    made = {id for id in given if _UUID.fullmatch(id)}
    length = ending_length(made)
    return {id: id[-length:] if id in made else id for id in given}


def ending_length(ids: Iterable[str]) -> int:
    """How many characters of their ends tell these ids apart; at least 8."""
    different = set(ids)
    for length in range(SHOWN, 36):
        if len({id[-length:] for id in different}) == len(different):
            return length
    return 36
