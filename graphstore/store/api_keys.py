"""The keys of the service: random, stored as hashes, each good for one workspace (rule H4).

A key is ``gs_<id>_<secret>``. The secret has 256 random bits, so one SHA-256 is enough to keep it by: there is nothing
to guess that a slow hash would protect.
"""

from __future__ import annotations

import hmac
import logging
import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from graphstore import queries
from graphstore.database import Database, Row
from graphstore.errors import ApiKeyNotFound, InvalidInput, ServerError
from graphstore.fingerprint import sha256
from graphstore.models import ApiKey, Scope
from graphstore.store import checking
from graphstore.store.reading import time_of

log = logging.getLogger("graphstore")

_FORM = re.compile(r"gs_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")


class ApiKeys:
    """The keys that open one workspace: ``store.api_keys``."""

    def __init__(self, database: Database, workspace: str) -> None:
        self._database = database
        self._workspace = workspace

    def create(
        self, scopes: Iterable[str], *, name: str | None = None, expires_at: datetime | None = None
    ) -> tuple[ApiKey, str]:
        """Make a key for ``scopes``; returns it and its text, which is told this once and stored nowhere.

        Raises ``InvalidInput`` for no scope or one there is not, and for a time without a zone.
        """
        chosen = _scopes(scopes)
        if expires_at is not None and expires_at.tzinfo is None:
            raise InvalidInput("a time without a zone can be read in two ways; give one with its zone")
        key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        row = self._database.row(
            queries.CREATE_API_KEY,
            key_id=key_id,
            workspace=self._workspace,
            name=checking.text(name, "a key's name"),
            scopes=[scope.value for scope in chosen],
            secret_hash=sha256(secret),
            expires_at=expires_at,
        )
        assert row is not None
        return _key_of(row), f"gs_{key_id}_{secret}"

    def all(self) -> list[ApiKey]:
        """Every key of the workspace, newest first, ended ones too."""
        return [_key_of(row) for row in self._database.rows(queries.API_KEYS, workspace=self._workspace)]

    def revoke(self, key_id: str) -> ApiKey:
        """End a key now. Raises ``ApiKeyNotFound``."""
        return self._end(key_id, timedelta(0))

    def rotate(self, key_id: str, *, grace: timedelta = timedelta(0)) -> tuple[ApiKey, str]:
        """Make a key like ``key_id`` in its place, which ends now, or after ``grace``; returns as ``create``.

        Raises ``ApiKeyNotFound``, and ``InvalidInput`` for one that was revoked.
        """
        old = next((key for key in self.all() if key.id == key_id), None)
        if old is None:
            raise ApiKeyNotFound(key_id, self._workspace)
        if old.revoked_at is not None:
            raise InvalidInput(f"key {key_id!r} was revoked at {old.revoked_at:%Y-%m-%d %H:%M} UTC; create a new one")
        made = self.create(old.scopes, name=old.name, expires_at=old.expires_at)
        self._end(key_id, grace)
        return made

    def _end(self, key_id: str, grace: timedelta) -> ApiKey:
        row = self._database.row(
            queries.END_API_KEY,
            key_id=key_id,
            workspace=self._workspace,
            grace_ms=max(round(grace.total_seconds() * 1000), 0),
        )
        if row is None:
            raise ApiKeyNotFound(key_id, self._workspace)
        return _key_of(row)


def authenticated(database: Database, text: str) -> ApiKey | None:
    """The key that ``text`` is, if it opens anything at this moment; asked of the database each time.

    So a revoked key opens nothing from then on, in whatever process.
    """
    form = _FORM.fullmatch(text)
    if form is None:
        return None
    row = database.row(queries.API_KEY, key_id=form[1])
    stored = "" if row is None else row["k"]["secret_hash"]
    if not hmac.compare_digest(sha256(form[2]), stored) or row is None or not row["valid"]:
        return None
    if row["stale"]:
        try:
            database.row(queries.USE_API_KEY, key_id=form[1])
        except ServerError as error:  # a read-only database still serves reads
            log.warning("the use of key %s could not be noted: %s", form[1], error)
    return _key_of(row)


def _scopes(scopes: Iterable[str]) -> list[Scope]:
    known = {scope.value: scope for scope in Scope}
    asked = [scopes] if isinstance(scopes, str) else list(scopes)
    for scope in asked:
        if scope not in known:
            raise InvalidInput(f"{scope!r} is not a scope; there are {', '.join(known)}")
    if not asked:
        raise InvalidInput(f"a key needs at least one scope of {', '.join(known)}")
    return [scope for value, scope in known.items() if value in asked]


def _key_of(row: Row) -> ApiKey:
    stored = row["k"]
    return ApiKey(
        id=stored["id"],
        workspace=stored["workspace"],
        name=stored.get("name"),
        scopes=tuple(Scope(scope) for scope in stored["scopes"]),
        created_at=stored["created_at"].to_native(),
        expires_at=time_of(stored.get("expires_at")),
        revoked_at=time_of(stored.get("revoked_at")),
        used_at=time_of(stored.get("used_at")),
    )
