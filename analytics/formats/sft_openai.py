"""OpenAI's chat fine-tuning JSONL, as Azure, Fireworks and Together read it too: one transcript a row.

An answer that is trained on has ``weight`` 1, every other assistant message 0, so that each is trained on in one row
only. These services refuse or misread other keys, so the rows' provenance is in a file of its own, line for line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graphstore.analytics.formats import chat
from graphstore.analytics.formats.trl import text
from graphstore.analytics.transcripts import Span, Transcript

Json = dict[str, Any]

FILE = "sft.jsonl"
PROVENANCE: str | None = "provenance.jsonl"
CARD = """\
  - name: messages
    list: json
  - name: tools
    list: json
"""


def messages(rendered: Iterable[Json]) -> Iterator[Json]:
    """Rendered messages in this format's words, one for one. Raises ``NotExpressible`` at the first that has none."""
    return chat.messages(rendered)


def rows(transcript: Transcript, messages: list[Json], spans: Sequence[Span]) -> Iterator[tuple[Json, list[Span]]]:
    """The one row of a transcript, with the spans that are trained on in it."""
    trained = {at for span in spans for at in range(span.start, span.end)}
    weighed = [
        {**message, "weight": int(at in trained and bool(message["content"] or "tool_calls" in message))}
        if message["role"] == "assistant"
        else message
        for at, message in enumerate(messages[: spans[-1].end])
    ]
    tools = chat.tools(transcript.context)
    yield {"messages": weighed, **({"tools": tools} if tools else {})}, list(spans)


def line(row: Json, flat: Json, meta: Json) -> tuple[bytes, bytes | None]:
    """A row and its provenance as lines. Raises ``NotExpressible``."""
    return (text(row) + "\n").encode(), (text({**flat, "meta": meta}) + "\n").encode()
