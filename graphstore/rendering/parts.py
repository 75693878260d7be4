"""Content parts: what a message or a tool result is made of.

Neutral parts:

- ``{"type": "text", "text": …}``
- ``{"type": "image", …}`` with ``url``, or ``data`` (base64) and ``media_type``, or ``file_id`` and
  ``provider`` (``"openai"``, ``"anthropic"`` or ``"gemini"``, whose file store it is); optionally ``detail``
- ``{"type": "file", …}`` located like an image, or with ``text`` (a plain text document); optionally
  ``filename``
- ``{"type": "audio", "data": …, "format": "wav"}`` (base64)
- ``{"type": "refusal", "refusal": …}``
- ``{"type": "raw", "format": …, "data": …}``: a provider's own, given back to it only

Providers' own parts are read here, all of them, because people also put them straight into neutral messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from graphstore.rendering.shape import (
    ANTHROPIC,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    PROVIDERS,
    Json,
    plain,
    raw,
    rest,
    with_extra,
)

_MEDIA = ("image", "file", "audio")
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)


def read_part(part: Any, format: str) -> Json:
    """A provider's own part in neutral form; raw where it says more than neutral words can."""
    part = plain(part)
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, dict):
        return raw(format, part)
    kind = part.get("type")
    reader = _READERS.get((format, kind)) if isinstance(kind, str) else None
    return (reader(part) if reader else None) or raw(format, part)


def neutral_parts(content: Any) -> list[Json]:
    """The parts of a stored message or result, those in a provider's own shape turned neutral."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [_neutral(part) for part in content if isinstance(part, dict | str)] if isinstance(content, list) else []


def joined_text(parts: Iterable[Json]) -> str:
    """All the text of ``parts``, refusals and stand-ins included, in one piece."""
    return "".join(text for part in parts if (text := said_text(part)) is not None)


def said_text(part: Json) -> str | None:
    """The text of a part, or words that stand in for a medium that can't be sent to where it goes.

    An image whose bytes an export doesn't hold must not vanish without a word: the model would answer a question about
    nothing. ``None`` for anything else without text, such as the traces of another provider's own tools.
    """
    if (text := part_text(part)) is not None:
        return text
    kind, data = part.get("type"), part.get("data")
    if kind == "raw" and part.get("format") not in PROVIDERS and isinstance(data, dict):
        kind = data.get("content_type", data.get("type"))
    elif kind not in _MEDIA:
        return None
    what = kind.replace("_", " ") if isinstance(kind, str) else "content"
    named = f" {part['filename']!r}" if isinstance(part.get("filename"), str) else ""
    return f"[{what}{named} not available]"


def part_text(part: Json) -> str | None:
    """The text of a part, whatever its type, if it carries any."""
    for holder in (part, part.get("data")):
        if isinstance(holder, dict):
            for name in ("text", "refusal"):
                if isinstance(holder.get(name), str):
                    return str(holder[name])
    return None


def url_of(part: Json, media_type: str | None = None) -> str | None:
    """The URL of an image or file: a data URL if the part holds the data itself.

    ``media_type`` is assumed where the part names none; without either, the bare base64 text is given.
    """
    data, url = part.get("data"), part.get("url")
    if isinstance(data, str):
        media_type = part["media_type"] if isinstance(part.get("media_type"), str) else media_type
        return f"data:{media_type};base64,{data}" if media_type else data
    return url if isinstance(url, str) else None


def file_id_of(part: Json, provider: str) -> str | None:
    """The id of an uploaded file in ``provider``'s file store."""
    file_id = part.get("file_id")
    return file_id if isinstance(file_id, str) and part.get("provider") in (None, provider) else None


def _neutral(part: Json | str) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = part.get("type")
    if kind == "image" and "source" in part:
        return read_part(part, ANTHROPIC)
    if kind == "file" and "file" in part:
        return read_part(part, OPENAI_CHAT)
    owner = _OWNERS.get(kind) if isinstance(kind, str) else None
    return read_part(part, owner) if owner else part


def _text(part: Json, format: str) -> Json | None:
    if not isinstance(part.get("text"), str):
        return None
    return with_extra({"type": "text", "text": part["text"]}, format, rest(part, "type", "text"))


def _refusal(part: Json, format: str) -> Json | None:
    if not isinstance(part.get("refusal"), str):
        return None
    return with_extra({"type": "refusal", "refusal": part["refusal"]}, format, rest(part, "type", "refusal"))


def at_url(url: str) -> Json:
    """Where a URL says an image or file is: ``media_type`` and ``data`` if it holds the data itself, else ``url``."""
    match = _DATA_URL.fullmatch(url)
    return {"media_type": match[1], "data": match[2]} if match else {"url": url}


def _strings(native: Any, *names: str) -> dict[str, str] | None:
    """The fields of ``native``, if it is an object with nothing but these as strings."""
    if not isinstance(native, dict):
        return None
    fields = {name: value for name, value in native.items() if value is not None}
    return fields if set(fields) <= set(names) and all(isinstance(v, str) for v in fields.values()) else None


def _chat_image(part: Json) -> Json | None:
    inner = _strings(part.get("image_url"), "url", "detail")
    if not inner or "url" not in inner:
        return None
    image = {"type": "image", **at_url(inner.pop("url")), **inner}
    return with_extra(image, OPENAI_CHAT, rest(part, "type", "image_url"))


def _chat_audio(part: Json) -> Json | None:
    inner = _strings(part.get("input_audio"), "data", "format")
    if not inner or len(inner) < 2:
        return None
    return with_extra({"type": "audio", **inner}, OPENAI_CHAT, rest(part, "type", "input_audio"))


def _chat_file(part: Json) -> Json | None:
    inner = _strings(part.get("file"), "file_data", "file_id", "filename")
    if not inner:
        return None
    return with_extra(_openai_file(inner), OPENAI_CHAT, rest(part, "type", "file"))


def _openai_file(fields: dict[str, str]) -> Json:
    file: Json = {"type": "file"}
    if "file_data" in fields:
        at = at_url(fields["file_data"])
        file |= at if "data" in at else {"data": fields["file_data"]}
    if "file_url" in fields:
        file["url"] = fields["file_url"]
    if "file_id" in fields:
        file |= {"file_id": fields["file_id"], "provider": "openai"}
    if "filename" in fields:
        file["filename"] = fields["filename"]
    return file


def _responses_image(part: Json) -> Json | None:
    names = ("image_url", "file_id", "detail")
    inner = _strings({name: part.get(name) for name in names}, *names)
    if not inner:
        return None
    image: Json = {"type": "image"}
    if "image_url" in inner:
        image |= at_url(inner["image_url"])
    if "file_id" in inner:
        image |= {"file_id": inner["file_id"], "provider": "openai"}
    if "detail" in inner:
        image["detail"] = inner["detail"]
    return with_extra(image, OPENAI_RESPONSES, rest(part, "type", *names))


def _responses_file(part: Json) -> Json | None:
    names = ("file_data", "file_id", "file_url", "filename")
    inner = _strings({name: part.get(name) for name in names}, *names)
    return with_extra(_openai_file(inner), OPENAI_RESPONSES, rest(part, "type", *names)) if inner else None


def _anthropic_located(part: Json) -> Json | None:
    source = _strings(part.get("source"), "type", "media_type", "data", "url", "file_id")
    match source:
        case {"type": "base64", "media_type": media_type, "data": data, **others} if not others:
            return {"media_type": media_type, "data": data}
        case {"type": "text", "media_type": "text/plain", "data": data, **others} if not others:
            return {"text": data}
        case {"type": "url", "url": url, **others} if not others and not _DATA_URL.fullmatch(url):
            return {"url": url}
        case {"type": "file", "file_id": file_id, **others} if not others:
            return {"file_id": file_id, "provider": "anthropic"}
    return None


def _anthropic_image(part: Json) -> Json | None:
    at = _anthropic_located(part)
    if at is None or "text" in at:
        return None
    return with_extra({"type": "image", **at}, ANTHROPIC, rest(part, "type", "source"))


def _anthropic_document(part: Json) -> Json | None:
    at = _anthropic_located(part)
    if at is None:
        return None
    file = {"type": "file", **at}
    if isinstance(part.get("title"), str):
        file["filename"] = part["title"]
    return with_extra(file, ANTHROPIC, rest(part, "type", "source", "title"))


def _of(format: str, read: Callable[[Json, str], Json | None]) -> Callable[[Json], Json | None]:
    return lambda part: read(part, format)


_READERS: dict[tuple[str, str], Callable[[Json], Json | None]] = {
    (OPENAI_CHAT, "text"): _of(OPENAI_CHAT, _text),
    (OPENAI_CHAT, "refusal"): _of(OPENAI_CHAT, _refusal),
    (OPENAI_CHAT, "image_url"): _chat_image,
    (OPENAI_CHAT, "input_audio"): _chat_audio,
    (OPENAI_CHAT, "file"): _chat_file,
    (OPENAI_RESPONSES, "input_text"): _of(OPENAI_RESPONSES, _text),
    (OPENAI_RESPONSES, "output_text"): _of(OPENAI_RESPONSES, _text),
    (OPENAI_RESPONSES, "refusal"): _of(OPENAI_RESPONSES, _refusal),
    (OPENAI_RESPONSES, "input_image"): _responses_image,
    (OPENAI_RESPONSES, "input_file"): _responses_file,
    (ANTHROPIC, "text"): _of(ANTHROPIC, _text),
    (ANTHROPIC, "image"): _anthropic_image,
    (ANTHROPIC, "document"): _anthropic_document,
}

# Types that only one provider has; a part of such a type in a neutral message is that provider's.
_OWNERS = {
    "image_url": OPENAI_CHAT,
    "input_audio": OPENAI_CHAT,
    "input_text": OPENAI_RESPONSES,
    "output_text": OPENAI_RESPONSES,
    "input_image": OPENAI_RESPONSES,
    "input_file": OPENAI_RESPONSES,
    "document": ANTHROPIC,
    "search_result": ANTHROPIC,
    "server_tool_use": ANTHROPIC,
    "web_search_tool_result": ANTHROPIC,
}
