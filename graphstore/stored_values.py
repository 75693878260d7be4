"""Values of the database as JSON and back, exactly: times to the nanosecond with offset or named zone, bytes, NaN.

Text, whole numbers, finite numbers, truth values and lists stand for themselves. Anything else is an object of one
member whose name tells its kind; the database has no maps among its properties, so nothing else looks like one.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, timedelta
from typing import Any

import pytz  # type: ignore[import-untyped]
from neo4j.time import Date, DateTime, Duration, Time

from graphstore.errors import InvalidInput


def plain(properties: Mapping[str, Any], times: Iterable[Iterable[str]], whose: str) -> dict[str, Any]:
    """Properties as JSON values; ``times`` are the exact texts of those that are times with a zone.

    Raises ``InvalidInput``, naming ``whose`` property it is, for a kind of value that has no form here.
    """
    exact = {name: {"time": text} for name, text in times}
    return {
        name: exact[name] if name in exact else _plain(value, f"property {name!r} of {whose}")
        for name, value in properties.items()
    }


def _plain(value: Any, what: str) -> Any:
    if isinstance(value, list):
        return [_plain(inner, what) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, bytes | bytearray):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, DateTime) and value.tzinfo is None:
        return {"local_time": value.iso_format()}
    if isinstance(value, Date) and not isinstance(value, DateTime):
        return {"date": value.iso_format()}
    if isinstance(value, Duration):
        return {"duration": [value.months, value.days, value.seconds, value.nanoseconds]}
    if isinstance(value, Time):
        return {"clock_time": value.iso_format()}
    raise InvalidInput(f"{what} is a {type(value).__name__}, which an archive has no form for; remove it first")


def stored(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that ``plain`` was given. Raises ``ValueError`` for what is none of its forms."""
    return {name: _stored(value) for name, value in properties.items()}


def _stored(value: Any) -> Any:
    if isinstance(value, list):
        return [_stored(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((kind, told),) = value.items()
        match kind:
            case "time":
                return _time(told)
            case "float":
                return float(told)
            case "bytes":
                return base64.b64decode(told)
            case "local_time":
                return DateTime.from_iso_format(told)
            case "date":
                return Date.from_iso_format(told)
            case "duration":
                months, days, seconds, nanoseconds = told
                return Duration(months=months, days=days, seconds=seconds, nanoseconds=nanoseconds)
            case "clock_time":
                return Time.from_iso_format(told)
    raise ValueError(f"{value!r} is no value of the database")


def _time(text: str) -> DateTime:
    at, _, zone = text.removesuffix("]").partition("[")
    time = DateTime.from_iso_format(at)
    if zone:
        # pytz, as the driver itself: it takes the driver's own times, which those of the standard library crash on.
        utc = time.astimezone(pytz.utc).replace(tzinfo=None)
        zoned: DateTime = pytz.timezone(zone).fromutc(utc)
        return zoned
    # An offset of nothing, as the server's clock writes it: a zone *named* UTC would be another value.
    return time.replace(tzinfo=UTC) if time.utcoffset() == timedelta(0) else time
