"""Fields of doubtful type: exports drift, so every field is asked for what it should be and may be missing."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any


def text(value: Any) -> str | None:
    """A string, or None for anything else."""
    return value if isinstance(value, str) else None


def name(value: Any) -> str | None:
    """An id: a non-empty string, or a number written as one."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def mapping(value: Any) -> dict[str, Any]:
    """An object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def array(value: Any) -> list[Any]:
    """A list, or an empty one for anything else."""
    return value if isinstance(value, list) else []


def moment(value: Any) -> datetime | None:
    """A UTC time from epoch seconds (or milliseconds) or ISO 8601 text (UTC where it names no zone), else None."""
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value.strip())
            return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        seconds = float(value)
        if seconds > 1e11:  # milliseconds: as seconds this would be after the year 5138
            seconds /= 1000
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return None


def counted(counts: dict[str, Any]) -> dict[str, Any] | None:
    """Those of some token counts that are counts; ``None`` if none is."""
    sound = {
        field: count
        for field, count in counts.items()
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**53
    }
    return sound or None
