"""Gemini's content parts: objects named by the one field they have, such as ``{"text": …}`` or ``{"inlineData": …}``.

Fields are written as the REST API writes them (``mimeType``); google-genai's own spelling (``mime_type``) and its
objects are read too, and bytes become base64 text.
"""

from __future__ import annotations

import base64
from typing import Any

from graphstore.rendering.parts import at_url, file_id_of, said_text
from graphstore.rendering.shape import GEMINI, Json, extra_of, given_back, raw, rest, with_extra

# The field that says what a part is; the others (thoughtSignature, videoMetadata, …) say something about it.
_KINDS = frozenset(
    {
        "text",
        "inlineData",
        "fileData",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
    }
)

# Objects of the API's own, whose field names are spelled by its rules; below others are names of the caller's.
_OWN_OBJECTS = _KINDS | {"videoMetadata", "mediaResolution"}

_AUDIO_FORMATS = ("wav", "mp3")

# Only Google's own services can read from these.
_STORES = ("gs://", "https://generativelanguage.googleapis.com/")


def as_json(value: Any) -> Any:
    """The JSON form of an SDK object, by the API's names; anything else unchanged."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value


def spelled(native: Json) -> Json:
    """A part with its fields, and those of what it holds, by the API's names."""
    out: Json = {}
    for name, value in native.items():
        if value is None:
            continue
        name = _camel(name)
        value = as_json(value)
        if name in _OWN_OBJECTS and isinstance(value, dict):
            value = {_camel(inner): _text(held) for inner, held in value.items() if held is not None}
        out[name] = _text(value)
    return out


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def _text(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def kind_of_part(part: Json) -> str | None:
    """The field that says what a part is, if there is exactly one such field."""
    kinds = _KINDS & part.keys()
    return next(iter(kinds)) if len(kinds) == 1 else None


def read_part(part: Json) -> Json:
    """A part of a message in neutral form; raw where it says more than neutral words can."""
    kind = kind_of_part(part)
    neutral: Json | None = None
    if kind == "text" and isinstance(part["text"], str):
        neutral = {"type": "text", "text": part["text"]}
    elif kind == "inlineData":
        neutral = _inline(part[kind])
    elif kind == "fileData":
        neutral = _stored(part[kind])
    if kind is None or neutral is None:
        return raw(GEMINI, part)
    return with_extra(neutral, GEMINI, rest(part, kind))


def _inline(blob: Any) -> Json | None:
    if not isinstance(blob, dict) or not isinstance(blob.get("mimeType"), str) or not isinstance(blob.get("data"), str):
        return None
    others = rest(blob, "mimeType", "data")
    family, _, kind = blob["mimeType"].partition("/")
    if family == "audio" and kind in _AUDIO_FORMATS and not others:
        return {"type": "audio", "data": blob["data"], "format": kind}
    return _named({"media_type": blob["mimeType"], "data": blob["data"]}, family, others)


def _stored(file: Any) -> Json | None:
    uri = file.get("fileUri") if isinstance(file, dict) else None
    if not isinstance(uri, str) or "data" in at_url(uri):
        return None
    where: Json = {"file_id": uri, "provider": "gemini"} if uri.startswith(_STORES) else {"url": uri}
    others = rest(file, "fileUri", "mimeType")
    media_type = file.get("mimeType")
    if media_type is None:
        return _named(where, "", others)
    if not isinstance(media_type, str):
        return None
    return _named(where | {"media_type": media_type}, media_type.partition("/")[0], others)


def _named(where: Json, family: str, others: Json) -> Json | None:
    """An image or a file that lies ``where``; ``None`` where fields are left that it has no word for."""
    if family == "image":
        return None if others else {"type": "image", **where}
    name = others.pop("displayName", None)
    if others or not (name is None or isinstance(name, str)):
        return None
    return {"type": "file", **where} | ({} if name is None else {"filename": name})


def native_part(part: Json) -> Json | None:
    """A neutral part as Gemini takes it; ``None`` if nothing of it can be said here."""
    if (native := given_back(part, GEMINI)) is not None:
        return native
    fields = extra_of(part, GEMINI)
    if (media := media_part(part)) is not None:
        return media | fields
    text = said_text(part)
    if text is None or not (text or fields):
        return None  # the API refuses empty text, unless a signature came with it
    return {"text": text} | (fields if part.get("type") == "text" else {})


def media_part(part: Json) -> Json | None:
    """``inlineData`` or ``fileData`` of an image, file or sound; ``None`` if Gemini can't get at it."""
    kind = part.get("type")
    if kind == "audio" and isinstance(part.get("data"), str) and isinstance(part.get("format"), str):
        return {"inlineData": {"mimeType": f"audio/{part['format']}", "data": part["data"]}}
    if kind not in ("image", "file"):
        return None
    where = part
    if not isinstance(part.get("data"), str) and isinstance(part.get("url"), str):
        where = {**part, **at_url(part["url"])}
    media_type = where.get("media_type") if isinstance(where.get("media_type"), str) else None
    named = {"displayName": part["filename"]} if isinstance(part.get("filename"), str) else {}
    if isinstance(where.get("data"), str):
        assumed = "image/png" if kind == "image" else "application/pdf"
        return {"inlineData": {"mimeType": media_type or assumed, "data": where["data"]} | named}
    uri = where["url"] if isinstance(where.get("url"), str) else _file_uri(part)
    if uri is None:
        return None
    return {"fileData": {"fileUri": uri} | ({"mimeType": media_type} if media_type else {}) | named}


def _file_uri(part: Json) -> str | None:
    """Where a file lies in Google's stores; ids of other stores are no URIs."""
    uri = file_id_of(part, "gemini")
    return uri if uri is not None and (part.get("provider") == "gemini" or uri.startswith(_STORES)) else None
