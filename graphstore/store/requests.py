"""Requests that must take effect once, however often they are sent (rule H2).

Whoever carries one out claims it first and keeps its answer. A claim whose holder died runs out; whoever repeats the
request then carries it out again, by the same ids, which the store's own writes recognise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graphstore import queries
from graphstore.database import Database
from graphstore.store.session import Session

LEASE_SECONDS = 60
KEPT_SECONDS = 24 * 60 * 60
BATCH = 1000


@dataclass(frozen=True)
class Answer:
    """What a request was answered: its status, headers as name and value in turns, and its body."""

    status: int
    headers: tuple[str, ...]
    body: bytes


Outcome = Literal["ok", "running", "other"]


class OnceOnly:
    """The claimed requests of a workspace."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def claim(self, key: str, fingerprint: str, claim_id: str) -> Outcome | Answer:
        """Take the request ``key``: ``ok``, or its answer, or ``running`` elsewhere, or ``other``: the key is taken."""
        row = self._session.row(
            queries.CLAIM_REQUEST,
            key=key,
            fingerprint=fingerprint,
            claim_id=claim_id,
            lease_ms=LEASE_SECONDS * 1000,
        )
        assert row is not None
        if row["outcome"] == "answered":
            return Answer(row["status"], tuple(row["headers"]), bytes(row["body"]))
        outcome: Outcome = row["outcome"]
        return outcome

    def answer(self, key: str, claim_id: str, answer: Answer) -> None:
        """Keep the answer of a claimed request, for a day."""
        self._session.row(
            queries.ANSWER_REQUEST,
            key=key,
            claim_id=claim_id,
            status=answer.status,
            headers=list(answer.headers),
            body=answer.body,
        )

    def let_go(self, key: str, claim_id: str) -> None:
        """Forget a claimed request that did nothing, so that it may be tried again."""
        self._session.row(queries.ANSWER_REQUEST, key=key, claim_id=claim_id, status=None, headers=None, body=None)


def sweep(database: Database) -> int:
    """Delete what was answered more than a day ago, in all workspaces; returns how many records went."""
    total = 0
    while True:
        row = database.row(queries.SWEEP_REQUESTS, age_ms=KEPT_SECONDS * 1000, limit=BATCH)
        assert row is not None
        swept: int = row["swept"]
        total += swept
        if swept < BATCH:
            return total
