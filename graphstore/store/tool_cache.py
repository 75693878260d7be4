"""The tool cache: results by the canonical call, never by the message that asked for it (rule T1)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from graphstore import fingerprint, jsontext, queries
from graphstore.errors import InvalidInput
from graphstore.models import CachedResult, CachedTool
from graphstore.payloads import Payloads, split
from graphstore.store import conversations, reading, writing
from graphstore.store.session import Session

EVERYONE = ""
"""The scope of results that are the same for whoever asks."""

BATCH = 1000


class ToolCache:
    """The cached tool results of a workspace: ``store.tool_cache``.

    A result is found again by the tool's name, its arguments (whatever their key order and spacing) and a scope, which
    says for whom it holds: a user's or a conversation's id, or nothing for everyone in the workspace.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, name: str, arguments: dict[str, Any] | str, *, scope: str = EVERYONE) -> CachedResult | None:
        """The result kept for a call, counted as a hit; ``None`` counts as a miss.

        ``arguments`` is an object, or the model's own JSON text. Raises ``InvalidInput`` for text that is no JSON, and
        when the tool needs a scope.
        """
        key = _key(name, arguments, scope)
        row = self._session.row(queries.CACHED_TOOL_RESULT, name=name, key=key, scope=scope)
        assert row is not None
        _check_scope(name, row["outcome"])
        return None if row["result"] is None else reading.cached_result_of(row["result"], Payloads(dict(row["blobs"])))

    def put(
        self,
        name: str,
        arguments: dict[str, Any] | str,
        output: Any,
        *,
        scope: str = EVERYONE,
        expires: timedelta | None = None,
    ) -> bool:
        """Keep ``output`` (any JSON value) for a call, in place of what was kept; false when the tool is never cached.

        It holds for ``expires`` from now (default: what the tool's rule says, else for good). Raises as ``get``.
        """
        key = _key(name, arguments, scope)
        text = jsontext.dumps(output)
        lighter, payloads = split(text, self._session.blob_bytes)
        row = self._session.row(
            queries.CACHE_TOOL_RESULT,
            name=name,
            key=key,
            scope=scope,
            output=lighter,
            blobs=writing.blobs_of(payloads),
            size=len(text.encode()),
            expires_ms=_milliseconds(expires),
        )
        assert row is not None
        _check_scope(name, row["outcome"])
        return bool(row["outcome"] == "ok")

    def rule(
        self, name: str, *, never: bool = False, expires: timedelta | None = None, scope_required: bool = False
    ) -> None:
        """Say what holds for a tool from now on, in place of what was said before.

        ``never``: nothing is kept of it, and what was is removed. ``expires``: how long results hold unless ``put``
        says. ``scope_required``: a call without a scope is refused, so that nobody is given another's result.
        """
        conversations.check_id(name, "tool name")
        self._session.rows(
            queries.RULE_TOOL,
            name=name,
            never=never,
            expires_ms=_milliseconds(expires),
            scope_required=scope_required,
        )
        if never:
            self.evict(name)

    def evict(
        self,
        name: str | None = None,
        arguments: dict[str, Any] | str | None = None,
        *,
        scope: str | None = None,
        expired: bool = False,
    ) -> int:
        """Remove results: of a tool, of one of its calls, of a scope, only those expired; returns how many.

        With nothing named, all. With ``arguments`` and no ``scope`` it is the call for everyone.
        """
        key = None
        if arguments is not None:
            if name is None:
                raise InvalidInput("arguments alone name no call; name the tool as well")
            key = _key(name, arguments, scope or EVERYONE)
        evicted = 0
        while True:
            row = self._session.row(
                queries.EVICT_TOOL_RESULTS, name=name, key=key, scope=scope, expired=expired, limit=BATCH
            )
            if row is None or row["evicted"] == 0:
                return evicted
            evicted += row["evicted"]

    def stats(self) -> list[CachedTool]:
        """Each tool with its rule, its results and their bytes, hits and misses; by name."""
        return [reading.cached_tool_of(row) for row in self._session.rows(queries.TOOL_CACHE)]


def _key(name: str, arguments: dict[str, Any] | str, scope: str) -> str:
    conversations.check_id(name, "tool name")
    if scope != EVERYONE:
        conversations.check_id(scope, "scope")
    value = jsontext.loads_exact(arguments) if isinstance(arguments, str) else arguments
    jsontext.dumps(value)  # refuses by name what JSON can't say
    return fingerprint.content_hash([name, value, scope])


def _check_scope(name: str, outcome: str) -> None:
    if outcome == "no_scope":
        raise InvalidInput(f"results of tool {name!r} are not for everyone; say for whom, with scope=…")


def _milliseconds(time: timedelta | None) -> int | None:
    if time is None:
        return None
    if time <= timedelta(0):
        raise InvalidInput(f"expires must be a positive time, not {time!r}")
    return round(time / timedelta(milliseconds=1))
