"""What callers pass beside items, checked before anything is written: what is stored must be readable again."""

from __future__ import annotations

import math
from typing import Any

from pydantic import ValidationError

from graphstore import items
from graphstore.errors import InvalidInput
from graphstore.models import Usage

MAX_LEASE_SECONDS = 10 * 365 * 24 * 3600.0


def text(value: Any, what: str) -> str | None:
    """``value`` if it is a string or ``None``. Raises ``InvalidInput`` otherwise, naming ``what``."""
    if value is None or isinstance(value, str):
        return value
    raise InvalidInput(f"{what} is a string, not {type(value).__name__} ({value!r:.60})")


def json_object(value: Any, what: str) -> dict[str, Any] | None:
    """``value`` as a JSON object, or ``None``. Raises ``InvalidInput`` for anything else."""
    return items.as_object(value, what)


def tools(value: Any) -> list[dict[str, Any]] | None:
    """Tool definitions: a list of JSON objects, or ``None``. Raises ``InvalidInput`` for anything else."""
    if value is None or (isinstance(value, list) and all(isinstance(tool, dict) for tool in value)):
        return value
    raise InvalidInput(f"tools are a list of JSON objects, not {type(value).__name__} ({value!r:.60})")


def usage(value: Any) -> dict[str, Any] | None:
    """The token counts as stored, or ``None``. Raises ``InvalidInput`` naming the first that is wrong."""
    if value is None:
        return None
    try:
        counted = value if isinstance(value, Usage) else Usage.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        raise InvalidInput(f"usage is not a count of tokens: {where}: {first['msg']}") from None
    return counted.model_dump(exclude_defaults=True)


def lease(seconds: Any) -> float:
    """How long a turn is held without a sign of life. Raises ``InvalidInput`` unless positive and at most ten years."""
    if not isinstance(seconds, int | float) or not math.isfinite(seconds) or not 0 < seconds <= MAX_LEASE_SECONDS:
        raise InvalidInput(f"lease_seconds must be positive and at most {MAX_LEASE_SECONDS:.0f}, not {seconds!r}")
    return float(seconds)
