"""Rows for other programs: one file per target, each a pure projection of a context and two answers.

A target offers ``FILE`` (the data file's name), ``CARD`` (how its columns are described to ``datasets``),
``prompt(context)``, ``completion(items)`` and ``row(...)``.
"""

from __future__ import annotations

from types import ModuleType

from graphstore.analytics.formats import trl
from graphstore.errors import InvalidInput

_TARGETS: dict[str, ModuleType] = {"trl": trl}

TARGETS: tuple[str, ...] = tuple(_TARGETS)
"""The names that ``export_preferences(as_=…)`` knows."""


def target(name: str) -> ModuleType:
    """The projection of that name; ``InvalidInput`` for an unknown one."""
    try:
        return _TARGETS[name]
    except KeyError:
        raise InvalidInput(f"{name!r} is not a preference format; choose one of {', '.join(TARGETS)}") from None
