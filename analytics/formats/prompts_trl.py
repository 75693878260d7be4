"""TRL's prompt-only rows (GRPO, RLOO, online DPO): what a turn's first call was sent, ending in the user's message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphstore.analytics.formats import trl
from graphstore.analytics.formats.sft_trl import line, messages
from graphstore.analytics.transcripts import Span, Transcript

__all__ = ["CARD", "FILE", "PROVENANCE", "line", "messages", "rows"]

Json = dict[str, Any]

FILE = "prompts.jsonl"
PROVENANCE: str | None = None
CARD = """\
  - name: prompt
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


def rows(transcript: Transcript, messages: list[Json], spans: Sequence[Span]) -> Iterator[tuple[Json, list[Span]]]:
    """A row for each span."""
    tools = trl.tools(transcript.context)
    for span in spans:
        yield {"prompt": messages[: span.start], "tools": tools}, [span]
