"""What an export says about itself: counts, reasons, options, file hashes, health; and its dataset card. Pure.

Nothing here tells the time or the place of the export, so that the same store state and options give the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from graphstore.analytics.folder import WrittenFile

VERSION = 1


@dataclass(slots=True)
class Health:
    """Numbers that show what a reward model could learn from anything but the preference, summed row by row."""

    rows: int = 0
    groups: int = 0
    chosen_longer: int = 0
    rejected_longer: int = 0
    chosen_characters: int = 0
    rejected_characters: int = 0
    prompt_characters: int = 0
    near_duplicates: int = 0
    same_model: int = 0
    context_verified: int = 0
    with_tools: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    evidence: Counter[str] = field(default_factory=Counter)
    grades: Counter[str] = field(default_factory=Counter)

    def summary(self) -> dict[str, Any]:
        """Shares and means over the rows; lengths in characters of visible text.

        A row is with tools when tools were offered with its prompt (an import seldom says which), or when its prompt or
        one of its sides calls one.
        """
        ties = self.rows - self.chosen_longer - self.rejected_longer
        best = max(self.chosen_longer, self.rejected_longer)
        return {
            "share_chosen_longer": self._share(self.chosen_longer),
            "share_rejected_longer": self._share(self.rejected_longer),
            "length_only_accuracy": self._share(best + ties / 2),
            "mean_chosen_characters": self._share(self.chosen_characters),
            "mean_rejected_characters": self._share(self.rejected_characters),
            "mean_prompt_characters": self._share(self.prompt_characters),
            "near_duplicates": self.near_duplicates,
            "share_same_model": self._share(self.same_model),
            "share_context_verified": self._share(self.context_verified),
            "share_with_tools": self._share(self.with_tools),
            "branch_kinds": dict(sorted(self.kinds.items())),
            "choice_evidence": dict(sorted(self.evidence.items())),
            "evidence_grades": dict(sorted(self.grades.items())),
        }

    def _share(self, total: float) -> float | None:
        return round(total / self.rows, 4) if self.rows else None


def manifest(
    *,
    kind: str,
    target: str,
    workspace: str,
    options: dict[str, Any],
    counts: dict[str, Any],
    left_out: Counter[str],
    health: dict[str, Any],
    files: list[WrittenFile],
    contradictions: list[dict[str, Any]] | None = None,
) -> bytes:
    """The manifest as JSON text. ``kind`` is what is exported ("preferences", "sft"), ``target`` in which format."""
    content = {
        "format": f"graphstore-{kind}",
        "format_version": VERSION,
        "target": target,
        "workspace": workspace,
        "versions": {"conversation-graphstore": version("conversation-graphstore")},
        "options": options,
        "counts": counts,
        "left_out": dict(sorted(left_out.items())),
        **({} if contradictions is None else {"contradictions": contradictions}),
        "health": health,
        "files": [{"name": file.name, "sha256": file.sha256, "bytes": file.bytes} for file in files],
    }
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def card(*, title: str, tags: tuple[str, ...], file: str, columns: str, text: str) -> bytes:
    """The dataset card; its features make ``datasets`` read every row the same way, however large the file."""
    tagged = "".join(f"- {tag}\n" for tag in tags)
    return f"""---
pretty_name: {title}
task_categories:
- text-generation
tags:
{tagged}configs:
- config_name: default
  data_files:
  - split: train
    path: {file}
dataset_info:
  features:
{columns}---

# {title}

{text}
""".encode()


def preferences_card(target: str, file: str, columns: str, health: Health, written: int) -> bytes:  # noqa: ARG001
    """The card of preference pairs."""
    summary = health.summary()
    text = f"""\
{health.rows} rows for `{target}`, written by graphstore. Each row holds what a model was sent (`prompt`), the answer
that the conversation went on with (`chosen`) and one that was left behind (`rejected`). `choice_evidence` and
`evidence_grade` say how much the choice is worth: it was inferred from what people did, not asked of them. `meta`
(JSON) leads back to the stored nodes; `manifest.json` counts every candidate that was left out, with the reason.

Chosen is the longer answer in {_percent(summary["share_chosen_longer"])} of the rows; guessing by length alone is right
in {_percent(summary["length_only_accuracy"])}."""
    return card(
        title="Preference pairs from conversation trees",
        tags=("preference", "dpo"),
        file=file,
        columns=columns,
        text=text,
    )


def unpaired_card(target: str, file: str, columns: str, health: Health, written: int) -> bytes:
    """The card of labelled answers."""
    return card(
        title="Labelled answers from conversation trees",
        tags=("preference", "kto"),
        file=file,
        columns=columns,
        text=f"""\
{written} rows for `{target}`, written by graphstore, from {health.rows} preference pairs. Each row holds what a model
was sent (`prompt`), one of its answers (`completion`) and whether the conversation went on with it (`label`). The
label was inferred from what people did unless `choice_evidence` is `explicit_feedback`. `meta` (JSON) leads
back to the stored nodes; `manifest.json` counts every candidate that was left out, with the reason.""",
    )


def evals_card(target: str, file: str, columns: str, health: Health, written: int) -> bytes:
    """The card of eval samples."""
    return card(
        title="Eval samples from conversation trees",
        tags=("evaluation",),
        file=file,
        columns=columns,
        text=f"""\
{written} samples for `{target}`, written by graphstore, from {health.rows} preference pairs. `input` is what a model
was sent where a conversation branched, `target` the answer it went on with: a reference, not the truth. The
answers left behind are in `metadata.rejected`. `manifest.json`
counts every candidate that was left out, with the reason. What
is in here must not be trained on as well: leave the conversations of `metadata.conversation_id` out of such sets.""",
    )


PAIR_CARDS = {"preferences": preferences_card, "unpaired": unpaired_card, "evals": evals_card}
"""What is made of preference pairs, by kind."""


def _percent(share: float | None) -> str:
    return "n/a" if share is None else f"{share:.1%}"
