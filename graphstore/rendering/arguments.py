"""A call's arguments: JSON text in neutral form, an object where a provider wants one.

Text that is no JSON object (a model may write anything) travels as ``{"_raw": text}`` and comes back as it
was; none at all is the empty object.
"""

from __future__ import annotations

import json
import math
from typing import Any

from graphstore import jsontext
from graphstore.rendering.shape import Json

_RAW = "_raw"


def input_of(arguments: str) -> Json:
    """A call's ``input`` object from the JSON text of its arguments."""
    if not arguments.strip():
        return {}
    try:
        value = json.loads(arguments, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return {_RAW: arguments}
    return value if isinstance(value, dict) else {_RAW: arguments}


def arguments_of(input: Any) -> str:
    """The JSON text of a call's ``input``, such that ``input_of`` gives the same object again."""
    text = input.get(_RAW) if isinstance(input, dict) else None
    return text if isinstance(text, str) and input_of(text) == input else jsontext.dumps(input)


def _finite(text: str) -> float:
    """The number, unless a request couldn't carry it."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value
