"""Models as plain JSON values.

Not pydantic's own writer: items may hold text and numbers that it refuses or changes (lone surrogates, ``1e400``), and
``jsontext`` writes those.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from fastapi import Response
from pydantic import BaseModel

from graphstore import jsontext


def plain(value: Any) -> Any:
    """``value`` with models as objects and times as RFC 3339 text; objects (items, metadata) are left as they are."""
    if isinstance(value, BaseModel):
        return {name: plain(inner) for name, inner in value}
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def json_text(members: Iterable[tuple[str, Any]]) -> str:
    """The JSON object of a model, or of name and value pairs."""
    return jsontext.dumps({name: plain(value) for name, value in members})


def json_response(members: Iterable[tuple[str, Any]], headers: dict[str, str] | None = None) -> Response:
    """The answer with the JSON object of a model, or of name and value pairs."""
    return Response(json_text(members), headers=headers, media_type="application/json")
