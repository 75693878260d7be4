"""JSON text that comes back exactly as it went in.

Items are stored as JSON text. orjson does the work; where it can't (lone surrogates, integers beyond 64 bits,
numbers beyond a double such as ``1e400``), the standard library parses and the odd values are carried as
:class:`NumberText`, so that writing them again gives the same text.
"""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

from graphstore.errors import InvalidInput


class NumberText(float):
    """A number that a double can't hold as written; ``text`` is how it stood in the JSON."""

    text: str

    def __new__(cls, text: str) -> NumberText:
        """Make a number of its text."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __reduce__(self) -> tuple[type[NumberText], tuple[str]]:
        return NumberText, (self.text,)


def _number(text: str) -> float:
    value = float(text)
    return NumberText(text) if repr(value) != text else value


def _integer(text: str) -> int | float:
    return NumberText(text) if text == "-0" else int(text)


def _reject_constant(name: str) -> float:
    raise InvalidInput(f"{name} is not JSON")


def loads(text: str | bytes) -> Any:
    """Parse JSON text.

    Raises ``InvalidInput`` when it is not JSON.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return loads_exact(text)


def loads_exact(text: str | bytes) -> Any:
    """Parse JSON text so that ``dumps`` gives back the text of every number.

    Slower than ``loads``: for text that came from outside and will be stored.
    Raises ``InvalidInput`` when it is not JSON.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogatepass")
        return json.loads(text, parse_float=_number, parse_int=_integer, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not valid JSON: {error}") from None


def _fragment(value: Any) -> Any:
    """Rebuild ``value`` with what orjson can't write replaced by ready-made JSON text."""
    if isinstance(value, str):
        return orjson.Fragment(json.dumps(value, ensure_ascii=not _encodable(value)))
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, NumberText):
        return orjson.Fragment(value.text)
    if isinstance(value, int):
        return orjson.Fragment(str(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{value!r} has no JSON form; pass null or a string")
        return value
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise InvalidInput("JSON object keys must be strings")
        if all(_encodable(key) for key in value):
            return {key: _fragment(inner) for key, inner in value.items()}
        members = (f"{json.dumps(key)}:{dumps(inner)}" for key, inner in value.items())
        return orjson.Fragment("{" + ",".join(members) + "}")
    if isinstance(value, list | tuple):
        return [_fragment(inner) for inner in value]
    raise InvalidInput(f"{type(value).__name__} values have no JSON form")


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _number_text(value: Any) -> Any:
    if isinstance(value, NumberText):
        return orjson.Fragment(value.text)
    raise TypeError(type(value).__name__)


def dumps(value: Any) -> str:
    """JSON text of ``value``, key order kept, never a character the database can't hold.

    Raises ``InvalidInput`` for values JSON can't express (NaN, sets, non-string keys).
    """
    if not _has_nonfinite(value):
        try:
            return orjson.dumps(value, default=_number_text).decode()
        except orjson.JSONEncodeError:
            pass  # what orjson can't write is told apart below
    try:
        return orjson.dumps(_fragment(value)).decode()
    except (RecursionError, orjson.JSONEncodeError):
        raise InvalidInput("JSON nested too deeply; more than 250 levels can't be stored") from None


def _has_nonfinite(value: Any) -> bool:
    """Whether a plain NaN or infinity is inside (orjson would quietly write null)."""
    stack = [value]
    seen: set[int] = set()  # so that a container which holds itself ends, too
    while stack:
        top = stack.pop()
        if type(top) is float:
            if not math.isfinite(top):
                return True
        elif isinstance(top, dict | list | tuple) and id(top) not in seen:
            seen.add(id(top))
            stack.extend(top.values() if isinstance(top, dict) else top)
    return False


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces, for hashes of content whose key order means nothing."""
    try:
        return orjson.dumps(value, default=_number_text, option=orjson.OPT_SORT_KEYS)
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


_MARK = "\x1a"


def shield(text: str) -> str:
    """A plain string property (title, id of a source) in a form the database can hold; see ``unshield``."""
    if "\x00" in text or text.startswith(_MARK) or not _encodable(text):
        return _MARK + json.dumps(text)
    return text


def unshield(text: str) -> str:
    """The string that ``shield`` was given."""
    return json.loads(text[1:]) if text.startswith(_MARK) else text
