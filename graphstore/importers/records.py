"""What an importer yields: conversations of calls, with a report of what was repaired. Pure data.

Keys are the source's own ids. They need only be unique and stable within their conversation; the store derives
node ids from them, which is what makes importing a file again, or a longer version of it, add only what is new.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Items = list[dict[str, Any]]


@dataclass(slots=True)
class ImportedCall:
    """One call of a model. ``parent_key`` names an earlier call of the same conversation (``None``: a root).

    ``turn_key`` is the key of the turn's first call; ``round`` counts the calls of a turn from 0.
    ``status`` is ``succeeded`` or ``failed``; a failed one has ``failure_kind`` (``no_reply`` for a question
    without a reply, whose ``key`` is then ``no_reply_key(<question's id>)``).
    ``sent_keys`` and ``returned_keys`` are the source's ids of the messages in them, in order.
    ``compacts_key`` makes it a compaction, for ``readers``, of the path that ends at that call; it has no parent.
    ``metadata["messages"]`` holds, by those ids, whatever of the source's messages the items don't say.
    """

    key: str
    parent_key: str | None
    turn_key: str
    round: int
    sent: Items
    returned: Items
    status: str = "succeeded"
    failure_kind: str | None = None
    failure_message: str | None = None
    finish_reason: str | None = None
    provider: str | None = None
    model: str | None = None
    author: str = "model"
    system_prompt: str | None = None
    tools: Items | None = None
    usage: dict[str, Any] | None = None
    created_at: datetime | None = None
    finished_at: datetime | None = None
    sent_keys: list[str] = field(default_factory=list)
    returned_keys: list[str] = field(default_factory=list)
    response_id: str | None = None
    compacts_key: str | None = None
    readers: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Report:
    """What became of one conversation of the source: counts by word, and a sentence for each oddity.

    Words in ``counts``: ``messages``, ``calls``, and the repairs ``orphan``, ``cycle``, ``several_roots``,
    ``dangling_pointer``, ``duplicate_id``, ``wrong_children``, ``guessed_leaf``, ``unknown_content``,
    ``unpaired_call``, ``unpaired_result``, ``wrong_parents``, ``damaged``, ``input_missing``, and what the source
    itself says of a message it kept: ``deleted``, ``rejected``. ``skipped`` is why nothing could be read at all.
    """

    source_id: str | None
    title: str | None = None
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    skipped: str | None = None

    def note(self, word: str, sentence: str) -> None:
        """Count ``word`` and keep the sentence (the first 100 only; the count stays exact)."""
        self.counts[word] += 1
        if len(self.notes) < 100:
            self.notes.append(sentence)


@dataclass(slots=True)
class ImportedConversation:
    """One conversation, its calls in parent-before-child order, oldest sibling first.

    ``cursor_key`` names the call that ends it, by the source's own pointer, or guessed (newest leaf) with
    ``cursor_guessed``. A skipped conversation has no calls and ``report.skipped`` set.
    """

    source: str
    source_id: str
    report: Report
    title: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    calls: list[ImportedCall] = field(default_factory=list)
    cursor_key: str | None = None
    cursor_guessed: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)


def no_reply_key(question_key: str) -> str:
    """The key of the call that stands for a question without a reply."""
    return f"no_reply:{question_key}"
