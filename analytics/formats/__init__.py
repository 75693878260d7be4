"""Rows for other programs: one file per target, each a pure projection of a context and its answers.

A target of preference pairs offers ``FILE`` (the data file's name), ``CARD`` (how its columns are described to
``datasets``), ``prompt(context)``, ``completion(items)`` and ``row(...)``; one of answers to train on ``messages``,
``rows`` and ``line``.
"""

from __future__ import annotations

from types import ModuleType

from graphstore.analytics.formats import sft_openai, sft_trl, trl
from graphstore.errors import InvalidInput

_TARGETS: dict[str, ModuleType] = {"trl": trl}
_SFT_TARGETS: dict[str, ModuleType] = {"openai": sft_openai, "trl": sft_trl}

TARGETS: tuple[str, ...] = tuple(_TARGETS)
"""The names that ``export_preferences(as_=…)`` knows."""

SFT_TARGETS: tuple[str, ...] = tuple(_SFT_TARGETS)
"""The names that ``export_sft(as_=…)`` knows."""


def target(name: str) -> ModuleType:
    """The projection of preference pairs of that name; ``InvalidInput`` for an unknown one."""
    return _named(name, _TARGETS, "a preference format")


def sft_target(name: str) -> ModuleType:
    """The projection of answers to train on of that name; ``InvalidInput`` for an unknown one."""
    return _named(name, _SFT_TARGETS, "a format of answers to train on")


def _named(name: str, targets: dict[str, ModuleType], what: str) -> ModuleType:
    try:
        return targets[name]
    except KeyError:
        raise InvalidInput(f"{name!r} is not {what}; choose one of {', '.join(targets)}") from None
