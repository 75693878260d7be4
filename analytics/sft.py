"""Answers to train on, from the accepted paths of a store into a folder, in constant memory (rule N8).

One pass, a conversation at a time in order of id. A node that several conversations have on their paths (forks) is
trained on in the first of them only; a ledger on disk remembers which were, and which answers to which contexts.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from graphstore import GraphStore
from graphstore.analytics import folder, formats, manifest, prompts, reading, sampling
from graphstore.analytics.accepted import DOUBTS, Line, Step, Untrained, decide
from graphstore.analytics.formats.projection import NotExpressible
from graphstore.analytics.formats.trl import text
from graphstore.analytics.ledger import Ledger
from graphstore.analytics.transcripts import Span, Transcript, transcripts
from graphstore.errors import InvalidInput

Json = dict[str, Any]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class AnswersReport:
    """What an export of answers wrote and left out. ``candidates`` is ``answers`` plus the sum of ``left_out``."""

    out: Path
    files: tuple[Path, ...]
    conversations: int
    rows: int
    answers: int
    candidates: int
    left_out: dict[str, int]
    health: Json


@dataclass
class _Export:
    store: GraphStore
    kind: str
    target: ModuleType
    include: frozenset[str]
    ledger: Ledger
    left_out: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    conversations: int = 0
    candidates: int = 0
    answers: int = 0
    rows: int = 0
    characters: int = 0
    verified: int = 0
    with_tools: int = 0
    by_person: int = 0
    as_of: str | None = None

    def leave_out(self, reason: Untrained, count: int = 1) -> None:
        if count:
            self.left_out[reason.value] += count


def export_sft(
    store: GraphStore,
    out: Path | str,
    as_: str = "openai",
    *,
    include: Collection[str] = (),
    progress: Progress | None = None,
) -> AnswersReport:
    """Write the answers of the accepted paths, each to be trained on once: rows, a manifest and a dataset card.

    ``as_``: ``openai`` (one transcript a row, weights say what is trained on) or ``trl`` (prompt and completion, one
    answer a row). ``include`` lets doubtful answers through: ``disliked``, ``guessed_cursor``. ``progress`` is called
    with the conversations read so far and their number. The same store state and options give the same bytes.
    Raises ``InvalidInput`` for an unknown format or option and for a folder that can't be used.
    """
    return _export(store, out, "sft", as_, formats.sft_target(as_), include, progress)


def export_prompts(
    store: GraphStore,
    out: Path | str,
    as_: str = "trl",
    *,
    include: Collection[str] = (),
    progress: Progress | None = None,
) -> AnswersReport:
    """Write what the turns of the accepted paths were asked, each once: prompts to sample new answers to.

    As ``export_sft``, whose options it has; calls inside a turn and questions asked before are left out.
    """
    return _export(store, out, "prompts", as_, formats.prompt_target(as_), include, progress)


def _export(
    store: GraphStore,
    out: Path | str,
    kind: str,
    as_: str,
    target: ModuleType,
    include: Collection[str],
    progress: Progress | None,
) -> AnswersReport:
    unknown = sorted(set(include) - set(DOUBTS))
    if unknown:
        raise InvalidInput(f"{unknown[0]!r} can't be included; choose among {', '.join(sorted(DOUBTS))}")
    out = Path(out)
    beside = [target.PROVENANCE] if target.PROVENANCE else []
    names = (target.FILE, *beside, folder.CARD, folder.MANIFEST)
    folder.prepare(out, names)
    with Ledger() as ledger, tempfile.TemporaryFile(dir=out, suffix=folder.PARTIAL) as provenance:
        export = _Export(store, kind, target, frozenset(include), ledger)
        files = [folder.write(out, target.FILE, _lines(export, provenance, progress))]
        provenance.seek(0)
        files += [folder.write(out, name, provenance) for name in beside]
    files.append(folder.write(out, folder.CARD, [_CARDS[kind](export, as_)]))
    content = manifest.manifest(
        kind=kind,
        target=as_,
        workspace=store.workspace,
        options={"as": as_, "include": sorted(export.include)},
        counts={
            "conversations": export.conversations,
            "candidates": export.candidates,
            "answers": export.answers,
            "rows": export.rows,
            "left_out": sum(export.left_out.values()),
            "as_of": export.as_of,
        },
        left_out=export.left_out,
        health=_health(export),
        files=files,
    )
    folder.write(out, folder.MANIFEST, [content])
    return AnswersReport(
        out=out,
        files=tuple(out / name for name in names),
        conversations=export.conversations,
        rows=export.rows,
        answers=export.answers,
        candidates=export.candidates,
        left_out=dict(sorted(export.left_out.items())),
        health=_health(export),
    )


def _lines(export: _Export, provenance: IO[bytes], progress: Progress | None) -> Iterator[bytes]:
    total = reading.count(export.store) if progress else 0
    for line, updated_at in reading.lines(export.store):
        export.conversations += 1
        export.as_of = max(export.as_of or "", updated_at)
        for row, beside in _rows(export, line):
            export.rows += 1
            if beside is not None:
                provenance.write(beside)
            yield row
        if progress is not None:
            progress(export.conversations, max(total, export.conversations))


def _rows(export: _Export, line: Line) -> Iterator[tuple[bytes, bytes | None]]:
    """The rows of one conversation."""
    steps = _trainable(export, line)
    if not steps:
        return
    texts = reading.texts(
        export.store, steps[-1].reply.id, [], [digest for step in steps for digest in step.reply.setting_hashes]
    )
    if texts is None or len(texts.ids) <= steps[-1].place:
        export.leave_out(Untrained.GONE_MEANWHILE, len(steps))
        return
    contexts = prompts.contexts(texts, [(step.place, step.reply) for step in steps])
    as_sent = [step for step in steps if step.reply.context_hash in {None, contexts[step.place].hash}]
    export.leave_out(Untrained.CONTEXT_NOT_REPRODUCED, len(steps) - len(as_sent))
    for transcript in transcripts(texts, as_sent, contexts):
        yield from _transcript_rows(export, line, transcript)


def _trainable(export: _Export, line: Line) -> list[Step]:
    steps = []
    for step in line.steps:
        export.candidates += 1
        reason = decide(line, step, export.include)
        if reason is None and not export.ledger.is_new("node", step.reply.id):
            reason = Untrained.TRAINED_ELSEWHERE
        if reason is None:
            steps.append(step)
        else:
            export.leave_out(reason)
    return steps


def _transcript_rows(export: _Export, line: Line, transcript: Transcript) -> Iterator[tuple[bytes, bytes | None]]:
    messages: list[Json] = []
    try:
        for message in export.target.messages(transcript.messages):
            text(message)
            messages.append(message)
        text(transcript.context.settings.tools)
    except NotExpressible:
        if len(messages) == len(transcript.messages):
            messages = []  # it was the tools, which all of them have
    spans = []
    sent = sampling.chained_keys([transcript.context.settings.tools, *messages])
    for span in transcript.spans:
        reason = _refused(export, messages, span, sent)
        if reason is None:
            spans.append(span)
        else:
            export.leave_out(reason)
    if not spans:
        return
    for row, trained in export.target.rows(transcript, messages, spans):
        yield _written(export, line, messages, row, trained)


def _refused(export: _Export, messages: list[Json], span: Span, sent: list[str]) -> Untrained | None:
    """The reason against an answer that its text gives. ``sent``: a key for all before each message."""
    if span.end > len(messages) or not messages:
        return Untrained.NOT_EXPRESSIBLE
    answer = messages[span.start : span.end]
    if not span.start or messages[span.start - 1]["role"] not in {"user", "tool"}:
        return Untrained.PROMPT_END
    if not any(message["content"] or "tool_calls" in message for message in answer):
        return Untrained.EMPTY
    if export.kind == "prompts" and messages[span.start - 1]["role"] != "user":
        return Untrained.INSIDE_A_TURN
    said = "" if export.kind == "prompts" else sampling.text_key(answer)
    if not export.ledger.is_new("answer", sent[span.start], said):
        return Untrained.DUPLICATE
    return None


def _written(
    export: _Export, line: Line, messages: list[Json], row: Json, trained: list[Span]
) -> tuple[bytes, bytes | None]:
    replies = [span.step.reply for span in trained]
    flat = {
        "row_id": sampling.answers_id(line.conversation_id, [reply.id for reply in replies]),
        "context_verified": all(reply.context_hash is not None for reply in replies),
    }
    meta = {
        "format_version": manifest.VERSION,
        "workspace": export.store.workspace,
        "row_id": flat["row_id"],
        "source": line.source,
        "conversation_id": line.conversation_id,
        "root_id": line.steps[0].reply.id,
        "trained": [_told(span) for span in trained],
    }
    export.answers += len(trained)
    for reply in replies:
        export.models[reply.model or "unknown"] += 1
        export.verified += reply.context_hash is not None
        export.by_person += reply.author == "person"
    for span in trained:
        said = messages[span.start : span.end]
        export.characters += sum(len(message["content"] or "") for message in said)
        export.with_tools += any("tool_calls" in message for message in said)
    line_of: tuple[bytes, bytes | None] = export.target.line(row, flat, meta)
    return line_of


def _told(span: Span) -> Json:
    reply = span.step.reply
    return {
        "node_id": reply.id,
        "message": span.start,
        "messages": span.end - span.start,
        "place": span.step.place,
        "turns_after": span.step.turns_after,
        "rated": span.step.rated,
        "context_hash": reply.context_hash,
        "author": reply.author,
        "provider": reply.provider,
        "model": reply.model,
        "finish_reason": reply.finish_reason,
        "created_at": reply.made,
        "parameters_hash": reply.parameters_hash,
    }


def _health(export: _Export) -> Json:
    def share(count: int) -> float | None:
        return round(count / export.answers, 4) if export.answers else None

    return {
        "mean_answer_characters": share(export.characters),
        "share_context_verified": share(export.verified),
        "share_calling_tools": share(export.with_tools),
        "share_by_a_person": share(export.by_person),
        "models": dict(sorted(export.models.items())),
    }


def _card(export: _Export, as_: str) -> bytes:
    beside = export.target.PROVENANCE
    where = f"`{beside}`, line for line," if beside else "`meta` (JSON)"
    return manifest.card(
        title="Accepted answers from conversation trees",
        tags=("sft",),
        file=export.target.FILE,
        columns=export.target.CARD,
        text=f"""\
{export.answers} answers in {export.rows} rows for `{as_}`, written by graphstore. They are those of the accepted paths:
answers that were replaced, and those of replaced questions, are in none. Each answer is trained on in exactly one row;
where it stands in another one, it is there as what was said before. {where} leads back to the stored nodes;
`manifest.json` counts every answer that was left out, with the reason.""",
    )


def _prompts_card(export: _Export, as_: str) -> bytes:
    return manifest.card(
        title="Prompts from conversation trees",
        tags=("prompts",),
        file=export.target.FILE,
        columns=export.target.CARD,
        text=f"""\
{export.rows} prompts for `{as_}`, written by graphstore: what the turns of the accepted paths were asked, with all that
came before. `meta` (JSON) leads back to the call that answered; `manifest.json` counts every call that was left out,
with the reason.""",
    )


_CARDS = {"sft": _card, "prompts": _prompts_card}
