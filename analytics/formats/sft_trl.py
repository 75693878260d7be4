"""TRL's prompt-completion rows: one answer a row, ``prompt`` what its call was sent, ``completion`` what it returned.

TRL has no way to leave single messages of a transcript untrained, and with ``completion`` its loss is the completion's
alone: so each answer is trained on once, and nothing else ever. Messages are those of ``trl``'s preference rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graphstore.analytics.formats import trl
from graphstore.analytics.transcripts import Span, Transcript

Json = dict[str, Any]

FILE = "sft.jsonl"
PROVENANCE: str | None = None
CARD = """\
  - name: prompt
    list: json
  - name: completion
    list: json
  - name: tools
    dtype: string
  - name: row_id
    dtype: string
  - name: context_verified
    dtype: bool
  - name: meta
    dtype: string
"""


def messages(rendered: Iterable[Json]) -> Iterator[Json]:
    """Rendered messages in this format's words, one for one. Raises ``NotExpressible`` at the first that has none."""
    return trl.messages(rendered)


def rows(transcript: Transcript, messages: list[Json], spans: Sequence[Span]) -> Iterator[tuple[Json, list[Span]]]:
    """A row for each span."""
    tools = trl.tools(transcript.context)
    for span in spans:
        answer = [m for m in messages[span.start : span.end] if m["content"] or "tool_calls" in m]
        yield {"prompt": messages[: span.start], "completion": answer, "tools": tools}, [span]


def line(row: Json, flat: Json, meta: Json) -> tuple[bytes, bytes | None]:
    """A row as a line; its provenance stands in it. Raises ``NotExpressible``."""
    return (trl.text({**row, **flat, "meta": trl.text(meta)}) + "\n").encode(), None
