"""Rows for other programs: one file per target, each a pure projection of a context and its answers.

A target of preference pairs offers ``FILE`` (the data file's name), ``CARD`` (how its columns are described to
``datasets``), ``prompt(context)``, ``completion(items)`` and ``lines(...)``; one of answers to train on ``messages``,
``rows`` and ``line``.
"""

from __future__ import annotations

from types import ModuleType

from graphstore.analytics.formats import evals_inspect, prompts_trl, sft_openai, sft_trl, trl, unpaired_trl
from graphstore.errors import InvalidInput

_TARGETS: dict[str, ModuleType] = {"trl": trl}
_UNPAIRED_TARGETS: dict[str, ModuleType] = {"trl": unpaired_trl}
_EVAL_TARGETS: dict[str, ModuleType] = {"inspect": evals_inspect}
_PROMPT_TARGETS: dict[str, ModuleType] = {"trl": prompts_trl}
_SFT_TARGETS: dict[str, ModuleType] = {"openai": sft_openai, "trl": sft_trl}

TARGETS: tuple[str, ...] = tuple(_TARGETS)
"""The names that ``export_preferences(as_=…)`` knows."""

SFT_TARGETS: tuple[str, ...] = tuple(_SFT_TARGETS)
"""The names that ``export_sft(as_=…)`` knows."""


UNPAIRED_TARGETS: tuple[str, ...] = tuple(_UNPAIRED_TARGETS)
"""The names that ``export_unpaired(as_=…)`` knows."""

EVAL_TARGETS: tuple[str, ...] = tuple(_EVAL_TARGETS)
"""The names that ``export_evals(as_=…)`` knows."""

PROMPT_TARGETS: tuple[str, ...] = tuple(_PROMPT_TARGETS)
"""The names that ``export_prompts(as_=…)`` knows."""


def target(name: str) -> ModuleType:
    """The projection of preference pairs of that name; ``InvalidInput`` for an unknown one."""
    return _named(name, _TARGETS, "a preference format")


def sft_target(name: str) -> ModuleType:
    """The projection of answers to train on of that name; ``InvalidInput`` for an unknown one."""
    return _named(name, _SFT_TARGETS, "a format of answers to train on")


def unpaired_target(name: str) -> ModuleType:
    """The projection of labelled answers of that name; ``InvalidInput`` for an unknown one."""
    return _named(name, _UNPAIRED_TARGETS, "a format of labelled answers")


def eval_target(name: str) -> ModuleType:
    """The projection of eval samples of that name; ``InvalidInput`` for an unknown one."""
    return _named(name, _EVAL_TARGETS, "a format of eval sets")


def prompt_target(name: str) -> ModuleType:
    """The projection of prompts of that name; ``InvalidInput`` for an unknown one."""
    return _named(name, _PROMPT_TARGETS, "a format of prompts")


def _named(name: str, targets: dict[str, ModuleType], what: str) -> ModuleType:
    try:
        return targets[name]
    except KeyError:
        raise InvalidInput(f"{name!r} is not {what}; choose one of {', '.join(targets)}") from None
