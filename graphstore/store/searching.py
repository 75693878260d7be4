"""Full-text search over all branches of a workspace (rule W4)."""

from __future__ import annotations

from typing import Any

from graphstore import plaintext, queries
from graphstore.errors import InvalidInput
from graphstore.models_branches import SearchHit
from graphstore.store import comparison, pages
from graphstore.store.session import Session

BATCH = 200
"""How many of the index's hits are looked at in one round trip; those of hidden nodes are among them."""

MAX_QUERY = 1000


def search(
    session: Session, query: str, limit: int, after: str | None, raw: bool
) -> tuple[list[SearchHit], str | None]:
    """A page of hits, best first, and the key of the next page (``None``: the end)."""
    wanted = pages.size(limit, "hits")
    if not isinstance(query, str) or len(query) > MAX_QUERY:
        raise InvalidInput(f"a search is a text of at most {MAX_QUERY} characters, not {query!r:.60}")
    text = plaintext.lucene(query, session.workspace, raw)
    skip, after_id = _place_of(after)
    session.database.rows(queries.AWAIT_TEXTS)
    found: list[dict[str, Any]] = []
    after_place = 0
    while len(found) <= wanted:
        row = session.row(
            queries.SEARCH,
            wanted=text,
            skip=skip,
            batch=BATCH,
            after_place=after_place,
            after_id=after_id,
            limit=wanted + 1 - len(found),
        )
        assert row is not None
        found += [{**hit, "place": skip + hit["place"]} for hit in row["found"]]
        if row["raw"] < BATCH:
            break
        skip, after_id = skip + BATCH, ""
    shown = found[:wanted]
    nodes = comparison.nodes(session, [hit["node_id"] for hit in shown])
    terms = plaintext.terms_of(query, raw)
    hits: dict[str, SearchHit] = {}
    for hit in shown:
        node = nodes.get(hit["node_id"])
        if node is None or node.id in hits:  # removed between the two looks; or found by a heavy string of its own, too
            continue
        role, piece, spans = plaintext.snippet(list(plaintext.texts_of([*node.sent, *node.returned])), terms)
        hits[node.id] = SearchHit(
            node_id=node.id,
            conversation_id=hit["conversation_id"],
            on_accepted_path=hit["conversation_id"] in hit["accepted_in"],
            accepted_in=tuple(hit["accepted_in"]),
            role=role,
            snippet=piece,
            spans=spans,
            score=hit["score"],
        )
    last = shown[-1] if len(found) > wanted else None
    return list(hits.values()), None if last is None else pages.encoded(f"{last['place']} {last['node_id']}")


def _place_of(key: str | None) -> tuple[int, str]:
    if key is None:
        return 0, ""
    place, _, node_id = pages.decoded(key).partition(" ")
    if not (place.isascii() and place.isdigit()) or len(place) > 9 or not node_id:
        raise pages.refused(key)
    return int(place), node_id
