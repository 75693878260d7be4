"""What data sets are made of, read from the store a page and a conversation at a time.

First the choices: a page of conversations, only their branch points, no text. Then, for a conversation with pairs, the
texts of its path and of the rejected nodes. Nothing is held beyond that page and that conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphstore import GraphStore, jsontext, queries
from graphstore.analytics.accepted import Line, Step
from graphstore.analytics.preferences import AcceptedPath, BranchPoint, PathMove, Reply
from graphstore.analytics.prompts import Texts
from graphstore.database import Row
from graphstore.store.session import steady

PAGE = 200
LINES_PAGE = 50  # a path may have any length


def count(store: GraphStore) -> int:
    """How many live conversations there are."""
    row = store.session.row(queries.COUNT_CONVERSATIONS)
    return 0 if row is None else int(row["conversations"])


def paths(store: GraphStore, page: int = PAGE) -> Iterator[tuple[AcceptedPath, str]]:
    """Every live conversation in order of id, with its branch points, and when it was last written to (ISO text)."""
    after = ""
    while True:
        rows = store.session.rows(queries.PREFERENCE_BRANCHES, after=after, limit=page)
        for row in rows:
            yield _path(row), row["updated_at"]
        if len(rows) < page:
            return
        after = rows[-1]["id"]


def texts(store: GraphStore, leaf_id: str, rejected_ids: Sequence[str], hashes: Sequence[str | None]) -> Texts | None:
    """The texts of the path of ``leaf_id``; ``None`` when it was deleted meanwhile."""
    return steady(lambda: _texts(store, leaf_id, rejected_ids, hashes))


def _texts(store: GraphStore, leaf_id: str, rejected_ids: Sequence[str], hashes: Sequence[str | None]) -> Texts | None:
    row = store.session.row(
        queries.PREFERENCE_TEXTS,
        leaf_id=leaf_id,
        node_ids=list(rejected_ids),
        hashes=sorted({digest for digest in hashes if digest}),
    )
    if row is None:
        return None
    exact = {*row["exact"], *(id for id, _, is_exact in row["siblings"] if is_exact)}
    siblings = {id: text or "[]" for id, text, _ in row["siblings"]}
    payloads = store.session.payloads([*row["sent"], *row["returned"], *siblings.values()])
    return Texts(
        ids=row["ids"],
        sent=[payloads.restored(text) for text in row["sent"]],
        returned=[text and payloads.restored(text) for text in row["returned"]],
        call_ids=row["call_ids"],
        result_ids=row["result_ids"],
        compactions=dict(row["compactions"]),
        exact=frozenset(exact),
        returned_by={id: payloads.restored(text) for id, text in siblings.items()},
        settings={digest: jsontext.loads(text) for digest, text in row["settings"]},
    )


def _path(row: Row) -> AcceptedPath:
    return AcceptedPath(
        conversation_id=row["id"],
        source=row["source"],
        root_id=row["root_id"],
        guessed=_guessed(row),
        times=tuple(row["times"]),
        turns=tuple(row["turns"]),
        newest=row["newest"] or 0,
        branches=tuple(
            BranchPoint(
                place=branch["place"],
                parent_id=branch["parent_id"],
                chosen=Reply(**branch["chosen"]),
                siblings=tuple(
                    Reply(**{**sibling, "moves": tuple(sibling["moves"])}) for sibling in branch["siblings"]
                ),
            )
            for branch in row["branches"]
        ),
        moves=tuple(PathMove(**move) for move in row["moves"]),
    )


def lines(store: GraphStore, page: int = LINES_PAGE) -> Iterator[tuple[Line, str]]:
    """Every live conversation's accepted path in order of id, and when it was last written to (ISO text)."""
    after = ""
    while True:
        rows = store.session.rows(queries.ACCEPTED_PATHS, after=after, limit=page)
        for row in rows:
            yield _line(row), row["updated_at"]
        if len(rows) < page:
            return
        after = rows[-1]["id"]


def _line(row: Row) -> Line:
    steps = []
    turns_after = 0
    for place, stored in reversed(list(enumerate(row["steps"]))):
        rated = stored.pop("rated")
        reply = Reply(**stored)
        steps.append(Step(place, reply, rated, turns_after))
        turns_after += reply.kind == "turn" and reply.round == 0
    return Line(
        conversation_id=row["id"],
        source=row["source"],
        guessed=_guessed(row),
        fork_place=row["fork_place"],
        steps=tuple(reversed(steps)),
    )


def _guessed(row: Row) -> bool:
    """Whether the source told no active leaf, and nobody has moved the cursor here."""
    metadata = jsontext.loads(row["metadata"]) if row["metadata"] else {}
    return bool(metadata.get("cursor_guessed")) and bool(row["as_imported"])
