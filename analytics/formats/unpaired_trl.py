"""TRL's unpaired preference rows (KTO): ``prompt``, ``completion``, ``label``; messages are those of ``trl``.

The chosen answer of a branch point is one row labelled true, each rejected one a row labelled false. An answer about
which nothing is known is no row: it is not false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graphstore.analytics.formats.trl import completion, ends_well, prompt, text, tools

__all__ = ["CARD", "FILE", "completion", "ends_well", "lines", "prompt", "text", "tools"]

Json = dict[str, Any]

FILE = "unpaired.jsonl"

CARD = """\
  - name: prompt
    list: json
  - name: completion
    list: json
  - name: label
    dtype: bool
  - name: tools
    dtype: string
  - name: row_id
    dtype: string
  - name: group_id
    dtype: string
  - name: context_verified
    dtype: bool
  - name: choice_evidence
    dtype: string
  - name: evidence_grade
    dtype: string
  - name: meta
    dtype: string
"""

_FLAT = ("group_id", "context_verified", "choice_evidence", "evidence_grade")


def lines(group: Json, told: Sequence[tuple[Json, Json, Json]], is_new: Callable[..., bool]) -> Iterator[bytes]:
    """The rows of a branch point: its chosen answer, then the rejected ones; none that is in the set already."""
    _, flat, meta = told[0]
    if is_new("unpaired", group["prompt_key"], group["chosen_key"]):
        yield _line(group, group["chosen"], True, group["group_id"], flat, meta)
    for pair, flat, meta in told:
        if is_new("unpaired", group["prompt_key"], pair["key"]):
            yield _line(group, pair["rejected"], False, pair["row_id"], flat, meta)


def _line(group: Json, answer: str, label: bool, row_id: str, flat: Json, meta: Json) -> bytes:
    columns = {"label": label, "tools": group["tools"], "row_id": row_id} | {name: flat[name] for name in _FLAT}
    meta = {**meta, "row_id": row_id, "node_id": meta["chosen_node_id" if label else "rejected_node_id"]}
    rest = text({**columns, "meta": text(meta)})[1:]
    return f'{{"prompt":{group["prompt"]},"completion":{answer},{rest}\n'.encode()
