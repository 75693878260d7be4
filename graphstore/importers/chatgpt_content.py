"""What one message of a ChatGPT export says, as items: its text lies in another field for each type of content."""

from __future__ import annotations

from typing import Any

from graphstore.importers.fields import array, mapping, name, text
from graphstore.importers.records import Items

_SOURCE = "chatgpt"

Part = dict[str, Any]

# Where each type of content keeps its text, if that is a plain string.
_TEXT_FIELD = {
    "code": "text",
    "execution_output": "text",
    "tether_quote": "text",
    "tether_browsing_display": "result",
    "sonic_webpage": "text",
    "system_error": "text",
    "citable_code_output": "output_str",
    "model_editable_context": "model_set_context",
}
CONTEXTS = ("user_editable_context", "model_editable_context")


def items_of(
    key: str, message: dict[str, Any], role: str, kind: Any, content: dict[str, Any]
) -> tuple[Items | None, tuple[str, ...]]:
    """The items of a message, and the content fields they fully say; no items: not understood."""
    if role == "assistant":
        thoughts = _reasoning(kind, content)
        if thoughts is not None:
            return thoughts
    parts, said = _parts(kind, content)
    if parts is None:
        return None, ()
    attached = _attachments(message, parts)
    if role == "tool":
        output = _plain(parts + attached)
        return [{"type": "tool_result", "call_id": key, "output": output}], said
    recipient = text(message.get("recipient"))
    if role == "assistant" and recipient not in (None, "", "all") and kind != "model_editable_context":
        if len(parts) == 1 and parts[0]["type"] == "text":
            arguments = parts[0]["text"]
            return [{"type": "tool_call", "call_id": key, "name": recipient, "arguments": arguments}], said
        return None, ()
    if role not in ("user", "assistant", "system", "developer"):
        return None, ()
    if role == "system" and not any(part.get("text", "x") for part in parts):
        return [], said  # the empty node that begins most conversations: nothing was said
    spoken = "system" if kind in CONTEXTS else role
    return [{"type": "message", "role": spoken, "content": _plain(parts + attached)}], said


def _reasoning(kind: Any, content: dict[str, Any]) -> tuple[Items, tuple[str, ...]] | None:
    if kind == "thoughts" and isinstance(content.get("thoughts"), list):
        thoughts = content["thoughts"]
        if thoughts and all(isinstance(thought, dict) for thought in thoughts):
            known = [_thought(thought) for thought in thoughts]
            extra = any(set(thought) - {"content", "summary"} for thought in thoughts)
            return known, () if extra else ("thoughts",)
    if kind == "reasoning_recap" and isinstance(content.get("content"), str):
        return [{"type": "reasoning", "summary": [content["content"]]}], ("content",)
    if kind in ("thoughts", "reasoning_recap"):
        parts = array(content.get("parts"))
        if parts and all(isinstance(part, str) for part in parts):
            if kind == "thoughts":
                return [{"type": "reasoning", "text": part} for part in parts], ("parts",)
            return [{"type": "reasoning", "summary": parts}], ("parts",)
    return None


def _thought(thought: dict[str, Any]) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "reasoning"}
    if isinstance(thought.get("content"), str):
        item["text"] = thought["content"]
    if isinstance(thought.get("summary"), str):
        item["summary"] = [thought["summary"]]
    return item


def _parts(kind: Any, content: dict[str, Any]) -> tuple[list[Part] | None, tuple[str, ...]]:
    if kind in ("text", "multimodal_text") and isinstance(content.get("parts"), list):
        parts = content["parts"]
        return [_part(part) for part in parts], ("parts",) if parts else ()
    if kind == "user_editable_context":
        fields = [field for field in ("user_profile", "user_instructions") if isinstance(content.get(field), str)]
        return ([text_part(content[field]) for field in fields] or None), tuple(fields)
    if kind == "computer_output" and isinstance(content.get("screenshot"), dict):
        return [_part(content["screenshot"])], ("screenshot",)
    field = _TEXT_FIELD.get(kind) if isinstance(kind, str) else None
    if field is not None and isinstance(content.get(field), str):
        return [text_part(content[field])], (field,)
    return None, ()


def text_part(words: str) -> Part:
    """A part of plain text."""
    return {"type": "text", "text": words}


def _part(part: Any) -> Part:
    if isinstance(part, str):
        return text_part(part)
    kind = mapping(part).get("content_type")
    pointer = mapping(part).get("asset_pointer")
    if kind == "image_asset_pointer" and isinstance(pointer, str):
        # not url: nobody but ChatGPT can fetch it, so it must never be sent on as one
        return {"type": "image", "asset_pointer": pointer, "extra": {_SOURCE: part}}
    if kind == "audio_transcription" and isinstance(part.get("text"), str):
        return text_part(part["text"]) | {"extra": {_SOURCE: part}}
    return raw_item(part)


def _attachments(message: dict[str, Any], parts: list[Part]) -> list[Part]:
    """File parts for the attachments that no part shows already (their bytes are not in the export's text)."""
    shown = " ".join(part["asset_pointer"] for part in parts if "asset_pointer" in part)
    found = []
    for attachment in array(mapping(message.get("metadata")).get("attachments")):
        ids = (name(mapping(attachment).get("id")), name(mapping(attachment).get("file_id")))
        if isinstance(attachment, dict) and not any(each is not None and each in shown for each in ids):
            file: Part = {"type": "file", "extra": {_SOURCE: attachment}}
            if isinstance(attachment.get("name"), str):
                file["filename"] = attachment["name"]
            found.append(file)
    return found


def _plain(parts: list[Part]) -> str | list[Part]:
    """A single plain text as a string."""
    if not parts:
        return ""
    if len(parts) == 1 and parts[0].keys() == {"type", "text"} and parts[0]["type"] == "text":
        return str(parts[0]["text"])
    return parts


def raw_item(value: Any) -> dict[str, Any]:
    """An item or part that is kept as it was."""
    return {"type": "raw", "format": _SOURCE, "data": value}
