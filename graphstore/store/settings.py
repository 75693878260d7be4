"""What repeats on every call (system prompt, tools, response format, parameters), stored once by hash."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypedDict

from graphstore import jsontext
from graphstore.context import Settings
from graphstore.database import Row
from graphstore.fingerprint import sha256
from graphstore.reasoning import Policy, checked
from graphstore.store import checking
from graphstore.store.held import Readers
from graphstore.store.session import Session
from graphstore.window import Limits, Tokenizer, Window


def settings_of(row: Row) -> Settings:
    """The settings in a row of ``assemble``, ``extend`` or ``turn_start`` (the first two give no response format)."""
    texts = {name: row.get(name) for name in ("system", "tools", "response_format")}
    values: dict[str, Any] = {name: None if text is None else _parsed(text) for name, text in texts.items()}
    hashes = {f"{name}_hash": row.get(f"{name}_hash") for name in texts}
    return Settings(**values, **hashes)


_LONG_NUMBER = re.compile(r"[0-9]{19}")


def _parsed(text: str) -> Any:
    """A setting's value; the fast parser would make floats of integers beyond 64 bits."""
    return jsontext.loads_exact(text) if _LONG_NUMBER.search(text) else jsontext.loads(text)


class Inherit:
    """The type of ``INHERIT``: keep what is in force at the end of the path."""

    def __repr__(self) -> str:
        return "INHERIT"


INHERIT = Inherit()


@dataclass(frozen=True)
class InForce:
    """The settings of one call: the properties its node gets, what to store, and what the context shows."""

    properties: dict[str, str]
    texts: dict[str, str]
    shown: Settings

    def unstored(self, session: Session) -> list[dict[str, Any]]:
        """Those that this process doesn't know to be stored, as parameters of a write."""
        return [
            {"sha256": digest, "data": text, "size": len(text.encode())}
            for digest, text in sorted(self.texts.items())
            if digest not in session.stored_settings
        ]


class CallOptions(TypedDict, total=False):
    """What may be said about a call beside what it sends.

    ``system`` and ``tools`` stay as they are on the path unless given, ``response_format`` within its turn; ``None``
    takes them away. ``provider`` and
    ``model`` also say which compactions can be read. ``id`` is the caller's own id for the call.
    ``newest_turns`` and ``max_tokens`` (counted by ``count_tokens``, else bytes ÷ 4) limit the call's context; its own
    turn comes beside the newest ones. ``reasoning`` (``drop``, ``keep`` or ``error``) is what to do about signed
    reasoning that no longer fits what comes before it; it holds for the further calls of the turn, too. Window and
    policy are recorded with the call.
    """

    provider: str | None
    model: str | None
    system: str | Inherit | None
    tools: list[dict[str, Any]] | Inherit | None
    response_format: dict[str, Any] | Inherit | None
    parameters: dict[str, Any] | None
    metadata: dict[str, Any] | None
    id: str | None
    newest_turns: int | None
    max_tokens: int | None
    count_tokens: Tokenizer | None
    reasoning: str | None


def in_force(before: Settings, options: CallOptions) -> InForce:
    """The settings of a call after a path whose own are ``before``.

    Raises ``TypeError`` for an option there is not, since a mistyped one would quietly do nothing.
    """
    unknown = options.keys() - CallOptions.__annotations__.keys()
    if unknown:
        raise TypeError(
            f"a call has no option {min(unknown)!r}; it has {', '.join(sorted(CallOptions.__annotations__))}"
        )
    system = options.get("system", INHERIT)
    tools = options.get("tools", INHERIT)
    response_format = options.get("response_format", INHERIT)
    texts: dict[str, str] = {}
    properties: dict[str, str] = {}

    def keep(name: str, value: object) -> str | None:
        if value is None:
            return None
        text = jsontext.dumps(value)
        digest = sha256(text)
        texts[digest] = text
        properties[f"{name}_hash"] = digest
        return digest

    def inherited(name: str, digest: str | None) -> str | None:
        if digest is not None:
            properties[f"{name}_hash"] = digest
        return digest

    if isinstance(system, Inherit):
        system, system_hash = before.system, inherited("system", before.system_hash)
    else:
        system_hash = keep("system", checking.text(system, "a system prompt"))
    if isinstance(tools, Inherit):
        tools, tools_hash = before.tools, inherited("tools", before.tools_hash)
    else:
        tools_hash = keep("tools", checking.tools(tools))
    if isinstance(response_format, Inherit):
        response_format = before.response_format
        response_format_hash = inherited("response_format", before.response_format_hash)
    else:
        response_format_hash = keep("response_format", checking.json_object(response_format, "a response format"))
    keep("parameters", checking.json_object(options.get("parameters"), "parameters"))
    shown = Settings(system, tools, response_format, system_hash, tools_hash, response_format_hash)
    return InForce(properties, texts, shown)


def limits_of(options: CallOptions) -> Limits:
    """How far a call's context is to be limited. Raises ``InvalidInput`` for what is no limit."""
    return Limits(options.get("newest_turns"), options.get("max_tokens"), options.get("count_tokens"))


def policy_of(options: CallOptions, before: Policy | None = None) -> Policy | None:
    """The policy for reasoning of a call; that of the turn's call before unless one is named (or ``None``)."""
    chosen = options.get("reasoning", before)
    return None if chosen is None else checked(chosen)


def recorded_options(
    readers: Readers, options: CallOptions, limits: Limits, window: Window | None, policy: Policy | None
) -> dict[str, Any]:
    """How a call's context was assembled, so that it can be put together again (S1, R1)."""
    recorded: dict[str, Any] = {}
    if len(readers) > 1:
        recorded["readers"] = list(readers)
    if window is not None:
        asked = {"newest_turns": limits.newest_turns, "max_tokens": limits.max_tokens}
        recorded["window"] = {**asked, "first_node_id": window.first_node_id}
    if policy is not None:
        # Beside the policy for whom: a provider may say that another model answered than was asked.
        recorded["reasoning"] = {
            "policy": policy,
            "provider": options.get("provider"),
            "model": options.get("model"),
        }
    return recorded
