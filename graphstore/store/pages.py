"""Listings a page at a time: how large a page may be, and the opaque key of the next one."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from graphstore.database import stored_time
from graphstore.errors import InvalidInput

MOST = 1000
"""The largest page."""


def size(limit: int, what: str) -> int:
    """How many of ``what`` a page shall hold. Raises ``InvalidInput`` unless 1 to 1000."""
    if not isinstance(limit, int) or not 1 <= limit <= MOST:
        raise InvalidInput(f"a page holds 1 to {MOST} {what}, not {limit!r}")
    return limit


def key_of(at: Any, id: str) -> str:
    """The key that continues after what was made at ``at`` (a time as the driver gives it) with ``id``."""
    return encoded(f"{at.iso_format()} {id}")


def place_of(key: str | None) -> tuple[Any, str | None]:
    """The time and id a page begins after; nothing for the first page. Raises ``InvalidInput`` for no key of a page."""
    if key is None:
        return None, None
    at, _, id = decoded(key).partition(" ")
    try:
        return stored_time(at), id
    except ValueError:
        raise refused(key) from None


def encoded(place: str) -> str:
    """A place in a listing as an opaque key."""
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def decoded(key: str) -> str:
    """The place in a listing that a key stands for. Raises ``InvalidInput`` for what is no key."""
    try:
        return base64.urlsafe_b64decode(key + "=" * (-len(key) % 4)).decode()
    except (TypeError, binascii.Error, ValueError):
        raise refused(key) from None


def refused(key: Any) -> InvalidInput:
    """The error for what is no key of a page."""
    return InvalidInput(f"{key!r:.80} is not the key of a page; use the one that the page before gave")
