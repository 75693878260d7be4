"""Ids and hashes: pure functions of their input.

A context's fingerprint is built item text by item text, so that a longer context continues the hash of the
shorter one it extends instead of hashing everything again.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
import uuid

from graphstore import jsontext

_clock_lock = threading.Lock()
_last_tick = 0


def new_id() -> str:
    """A UUIDv7 (RFC 9562): sorts by time, and strictly so within one process."""
    global _last_tick
    with _clock_lock:
        # 48 bits of milliseconds, then 12 bits of the sub-millisecond part: ticks of 1/4096 ms
        tick = max((time.time_ns() << 12) // 1_000_000, _last_tick + 1)
        _last_tick = tick
    value = (tick >> 12) << 80 | 0x7 << 76 | (tick & 0xFFF) << 64 | 0b10 << 62
    value |= int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    return str(uuid.UUID(int=value))


def derived_id(*parts: str) -> str:
    """A UUIDv8 made of a hash: the same parts always give the same id (imports rely on it)."""
    digest = hashlib.sha256(jsontext.canonical(list(parts))).digest()
    value = int.from_bytes(digest[:16])
    value = value & ~(0xF << 76) | 0x8 << 76
    value = value & ~(0b11 << 62) | 0b10 << 62
    return str(uuid.UUID(int=value))


def sha256(content: str | bytes) -> str:
    """Hex SHA-256 of text (UTF-8) or bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def content_hash(value: object) -> str:
    """Hex SHA-256 of a JSON value whose key order means nothing."""
    return sha256(jsontext.canonical(value))
