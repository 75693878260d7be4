"""Open WebUI's older way to keep reasoning and tools: ``<details>`` blocks of HTML in the text of an answer.

``type="reasoning"`` holds quoted lines under a summary; ``type="tool_calls"`` names a tool and its arguments and holds
the result, as an attribute or as its text, all of it escaped. Only blocks at the beginning of a line and outside of
fenced code are meant so, and only where they name what they are; everything else stays text.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

from graphstore import jsontext
from graphstore.importers.messages import Side
from graphstore.importers.records import Items

_BLOCK = re.compile(r'<details type="(reasoning|tool_calls)"((?:\s+[\w-]+="[^"]*")*)\s*>')
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_SUMMARY = re.compile(r"\s*<summary>[^<]*</summary>\n?")
_END = "</details>"
_FENCE = "```"


def items_of(key: str, text: str) -> list[tuple[Side, Items]] | None:
    """What an answer with such blocks says, in order; ``None`` where there is none.

    A call that has no id goes by ``key`` and its number.
    """
    found: list[tuple[Side, Items]] = []
    said = 0
    fences = 0
    counted = 0
    position = 0
    while (block := _BLOCK.search(text, position)) is not None:
        position = block.end()
        fences += text.count(_FENCE, counted, block.start())
        counted = block.start()
        end = text.find(_END, block.end())
        if end < 0:
            break
        if fences % 2 or not _begins_a_line(text, block.start()):
            continue
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(block[2])}
        body = _body(text[block.end() : end])
        read = _reasoning(body) if block[1] == "reasoning" else _tool(f"{key}:{len(found)}", attributes, body)
        if read is None:
            continue
        found += _spoken(text[said : block.start()]) + read
        said = counted = position = end + len(_END)
    return found + _spoken(text[said:]) if found else None


def _begins_a_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n" or text.endswith(_END, 0, at)


def _body(inner: str) -> str:
    summary = _SUMMARY.match(inner)
    return html.unescape(inner[summary.end() if summary else 0 :]).strip("\n")


def _spoken(text: str) -> list[tuple[Side, Items]]:
    if not text.strip():
        return []
    return [(Side.RETURNED, [{"type": "message", "role": "assistant", "content": text.strip("\n")}])]


def _reasoning(body: str) -> list[tuple[Side, Items]]:
    lines = [re.sub(r"^> ?", "", line) for line in body.split("\n")]
    return [(Side.RETURNED, [{"type": "reasoning", "text": "\n".join(lines)}])]


def _tool(call_id: str, attributes: dict[str, str], body: str) -> list[tuple[Side, Items]] | None:
    if not attributes.get("name"):
        return None
    call_id = attributes.get("id") or call_id
    arguments = _unpacked(attributes.get("arguments", ""))
    call = {"type": "tool_call", "call_id": call_id, "name": attributes["name"], "arguments": arguments}
    packed = attributes.get("result") or body
    if not packed and attributes.get("done") != "true":
        return [(Side.RETURNED, [call])]
    result = {"type": "tool_result", "call_id": call_id, "output": _unpacked(packed)}
    return [(Side.RETURNED, [call]), (Side.SENT, [result])]


def _unpacked(text: str) -> str:
    """A text that was written as JSON, once too often in some versions."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str) else text if isinstance(value, dict | list) else jsontext.dumps(value)
