"""What repeats on every call (system prompt, tools, response format, parameters), stored once by hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphstore import jsontext
from graphstore.context import Settings
from graphstore.errors import InvalidInput
from graphstore.fingerprint import sha256
from graphstore.store.session import Session


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


def in_force(
    before: Settings,
    system: str | Inherit | None,
    tools: list[dict[str, Any]] | Inherit | None,
    response_format: dict[str, Any] | None,
    parameters: dict[str, Any] | None,
) -> InForce:
    """The settings of a call after a path whose own are ``before``; ``INHERIT`` keeps prompt and tools."""
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
        if system is not None and not isinstance(system, str):
            raise InvalidInput(f"a system prompt is a string, not {type(system).__name__}")
        system_hash = keep("system", system)
    if isinstance(tools, Inherit):
        tools, tools_hash = before.tools, inherited("tools", before.tools_hash)
    else:
        tools_hash = keep("tools", tools)
    response_format_hash = keep("response_format", response_format)
    keep("parameters", parameters)
    shown = Settings(system, tools, response_format, system_hash, tools_hash, response_format_hash)
    return InForce(properties, texts, shown)
