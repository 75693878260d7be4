"""The store that a command works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from graphstore.errors import InvalidInput
from graphstore.settings import Settings
from graphstore.store import GraphStore

ACTOR = "cli"
"""Recorded with every move that a command makes."""


def settings() -> Settings:
    """What the environment says.

    Raises ``InvalidInput`` where a variable has no valid value.
    """
    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}={e['input']!r}: {e['msg']}" for e in error.errors())
        raise InvalidInput(f"the environment has a setting that can't be used: {wrong}") from None


@contextmanager
def opened(workspace: str | None) -> Iterator[GraphStore]:
    """The store in a workspace (``None``: what the environment says), closed afterwards."""
    with GraphStore.open(workspace=workspace, actor=ACTOR, settings=settings()) as store:
        yield store
