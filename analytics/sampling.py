"""Choosing and comparing rows without chance: by hashes of a seed and the row, never by order or a generator. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein

from graphstore.fingerprint import derived_id
from graphstore.jsontext import canonical

NEAR_DUPLICATE = 0.9
"""From this edit similarity on, two answers are flagged as near-duplicates."""


def row_id(chosen_id: str, rejected_id: str) -> str:
    """The id of a pair: the same two nodes always make the same row."""
    return derived_id("preference", chosen_id, rejected_id)


def group_id(conversation_id: str, chosen_id: str) -> str:
    """The id of a branch point's group of rows."""
    return derived_id("preference-group", conversation_id, chosen_id)


def answers_id(conversation_id: str, node_ids: Sequence[str]) -> str:
    """The id of a row in which these nodes' answers are trained on."""
    return derived_id("answers", conversation_id, *node_ids)


def sample(row_ids: Sequence[str], size: int | None, seed: int) -> set[str]:
    """``size`` of the rows (``None``: all): those whose hash with the seed is smallest."""
    if size is None or len(row_ids) <= size:
        return set(row_ids)
    return set(sorted(row_ids, key=lambda row: (_key(seed, row), row))[:size])


def _key(seed: int, row: str) -> bytes:
    return hashlib.blake2b(f"{seed}:{row}".encode(), digest_size=16).digest()


def text_key(messages: Any) -> str:
    """A key (hex) that is equal for messages that differ in white space only."""
    return hashlib.blake2b(canonical(_squeezed(messages)), digest_size=16).hexdigest()


def chained_keys(parts: Sequence[Any]) -> list[str]:
    """A key for the parts up to each one: ``text_key`` of all of them would hash a long transcript again and again."""
    keys: list[str] = []
    for part in parts:
        keys.append(text_key([keys[-1] if keys else "", part]))
    return keys


def _squeezed(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, dict):
        return {key: _squeezed(inner) for key, inner in value.items()}
    return [_squeezed(inner) for inner in value] if isinstance(value, list) else value


def similarity(one: str, other: str) -> float:
    """Edit similarity of two texts, 0 to 1; 0 for any that is below ``NEAR_DUPLICATE``."""
    return round(Levenshtein.normalized_similarity(one, other, score_cutoff=NEAR_DUPLICATE), 4)
