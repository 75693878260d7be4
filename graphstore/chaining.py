"""Chained endpoints (rule P2): where a provider holds the history itself, only what it lacks is sent.

A response can be continued if the target's provider gave it, and holds just what the path has up to there: the call
sent the very items that come before, and nothing of them, or of what it returned, is left out today. System prompt and
tools don't matter, since they are sent with every call.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphstore import rendering
from graphstore.errors import InvalidInput
from graphstore.reasoning import Origin, Prefix, Stretch

Json = dict[str, Any]

_CHAINING = "openai-responses"


@dataclass(frozen=True, slots=True)
class Chain:
    """What to send after a response that a provider holds: ``items``, as the continuation of ``response_id``.

    ``node_id`` is the call whose response it is. Where none is valid both are ``None`` and ``items`` are all.
    """

    response_id: str | None
    node_id: str | None
    items: list[Json]
    system: str | None = None
    tools: list[Json] | None = None

    def render(self, as_: str = _CHAINING) -> Json:
        """The request, with ``previous_response_id`` if there is one.

        Raises ``InvalidInput`` for a shape that can't name a previous response.
        """
        request = rendering.render(self.items, as_, system=self.system, tools=self.tools)
        if self.response_id is None:
            return request
        if as_ != _CHAINING:
            raise InvalidInput(
                f"a request of shape {as_!r} can't continue response {self.response_id!r}; render the chain as "
                f"{_CHAINING!r}, or the whole context as {as_!r}"
            )
        return {**request, "previous_response_id": self.response_id}


def continued(
    stretches: Sequence[Stretch],
    origins: Mapping[str, Origin],
    dropped: Collection[int],
    provider: str,
    model: str | None,
) -> tuple[str, str, int] | None:
    """The nearest response that can be continued: its id, its node, and how many of all items it covers."""
    prefix = Prefix(dropped)
    found: tuple[str, str, int] | None = None
    for stretch in stretches:
        prefix.take(stretch.sent_text, stretch.sent)
        origin = origins.get(stretch.node_id, Origin())
        fits = (
            origin.response_id is not None
            and origin.provider == provider
            and model in (None, origin.model)
            and prefix.was_sent_by(origin)
        )
        prefix.take(stretch.returned_text, stretch.returned)
        if fits and origin.response_id is not None and not prefix.filtered:
            found = origin.response_id, stretch.node_id, len(prefix.items)
    return found
