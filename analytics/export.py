"""Preference pairs, and what is made of them, from a store into a folder, in constant memory.

Two passes. The first reads the store, decides every candidate, and spools each branch point's pairs to disk, noting in
a ledger which text was chosen and which rejected after which prompt. Only then is it known which pairs contradict each
other, so the second drops those and repeats, picks the negatives, weighs them, and writes.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import orjson

from graphstore import GraphStore
from graphstore.analytics import folder, formats, groups, manifest, prompts, reading, sampling
from graphstore.analytics.ledger import Ledger
from graphstore.analytics.manifest import Health
from graphstore.analytics.preferences import OPTIONAL, AcceptedPath, LeftOut, decide
from graphstore.errors import InvalidInput

Json = dict[str, Any]
Progress = Callable[[int, int], None]

MAX_NEGATIVES = 3
"""Rows of one branch point at most, unless asked otherwise."""

EXAMPLES = 20
"""Contradictions that the manifest names; all are counted."""


@dataclass(frozen=True)
class ExportReport:
    """What an export wrote and left out. ``candidates`` is the number of rows plus the sum of ``left_out``.

    ``rows`` counts pairs, ``written`` the lines of the data file: those of preference pairs are the same.
    """

    out: Path
    files: tuple[Path, ...]
    conversations: int
    groups: int
    rows: int
    written: int
    candidates: int
    left_out: dict[str, int]
    health: Json


@dataclass
class _Export:
    store: GraphStore
    target: ModuleType
    seed: int
    max_negatives: int | None
    include: frozenset[str]
    left_out: Counter[str] = field(default_factory=Counter)
    contradictions: list[Json] = field(default_factory=list)
    health: Health = field(default_factory=Health)
    conversations: int = 0
    branch_points: int = 0
    candidates: int = 0
    written: int = 0
    as_of: str | None = None


def export_preferences(
    store: GraphStore,
    out: Path | str,
    as_: str = "trl",
    *,
    seed: int = 0,
    max_negatives: int | None = MAX_NEGATIVES,
    include: Collection[str] = (),
    progress: Progress | None = None,
) -> ExportReport:
    """Write the preference pairs of a workspace into the folder ``out``: rows, a manifest and a dataset card.

    ``seed`` picks the negatives where a branch point has more than ``max_negatives`` (``None``: take all). ``include``
    lets doubtful choices through: ``guessed_cursor``, ``never_current``, ``censored``. ``progress`` is called with the
    conversations read so far and their number. The same store state, seed and options give the same bytes.
    Raises ``InvalidInput`` for an unknown format or option and for a folder that can't be used.
    """
    options = _Options("preferences", as_, seed, max_negatives, include)
    return _export(store, out, formats.target(as_), options, progress)


def export_unpaired(
    store: GraphStore,
    out: Path | str,
    as_: str = "trl",
    *,
    seed: int = 0,
    max_negatives: int | None = MAX_NEGATIVES,
    include: Collection[str] = (),
    progress: Progress | None = None,
) -> ExportReport:
    """Write the answers of preference pairs as rows of their own, each with a label (for KTO).

    Decided, left out and counted as by ``export_preferences``; ``rows`` counts the pairs, ``written`` the lines: the
    chosen answer of a branch point once, each rejected one once.
    """
    options = _Options("unpaired", as_, seed, max_negatives, include)
    return _export(store, out, formats.unpaired_target(as_), options, progress)


def export_evals(
    store: GraphStore,
    out: Path | str,
    as_: str = "inspect",
    *,
    seed: int = 0,
    max_negatives: int | None = None,
    include: Collection[str] = (),
    progress: Progress | None = None,
) -> ExportReport:
    """Write an eval sample for each branch point: the accepted answer as reference, the abandoned ones beside it.

    Decided, left out and counted as by ``export_preferences``; ``rows`` counts the pairs, ``written`` the samples.
    """
    options = _Options("evals", as_, seed, max_negatives, include)
    return _export(store, out, formats.eval_target(as_), options, progress)


@dataclass(frozen=True)
class _Options:
    kind: str
    as_: str
    seed: int
    max_negatives: int | None
    include: Collection[str]

    def check(self) -> None:
        unknown = sorted(set(self.include) - set(OPTIONAL))
        if unknown:
            raise InvalidInput(f"{unknown[0]!r} can't be included; choose among {', '.join(sorted(OPTIONAL))}")
        if self.max_negatives is not None and self.max_negatives < 1:
            raise InvalidInput(f"max_negatives must be at least 1 (or None for all), not {self.max_negatives!r}")


def _export(
    store: GraphStore, out: Path | str, target: ModuleType, options: _Options, progress: Progress | None
) -> ExportReport:
    options.check()
    out = Path(out)
    names = (target.FILE, folder.CARD, folder.MANIFEST)
    folder.prepare(out, names)
    export = _Export(store, target, options.seed, options.max_negatives, frozenset(options.include))
    with Ledger() as ledger, tempfile.TemporaryFile(dir=out, suffix=folder.PARTIAL) as spool:
        _spool(export, ledger, spool, progress)
        spool.seek(0)
        data = folder.write(out, target.FILE, _rows(export, ledger, spool))
    card = manifest.PAIR_CARDS[options.kind](options.as_, target.FILE, target.CARD, export.health, export.written)
    files = [data, folder.write(out, folder.CARD, [card])]
    counts = {
        "conversations": export.conversations,
        "branch_points": export.branch_points,
        "candidates": export.candidates,
        "groups": export.health.groups,
        "rows": export.health.rows,
        **({} if options.kind == "preferences" else {"written": export.written}),
        "left_out": sum(export.left_out.values()),
        "as_of": export.as_of,
    }
    content = manifest.manifest(
        kind=options.kind,
        target=options.as_,
        workspace=store.workspace,
        options={
            "as": options.as_,
            "seed": options.seed,
            "max_negatives": options.max_negatives,
            "include": sorted(export.include),
        },
        counts=counts,
        left_out=export.left_out,
        contradictions=export.contradictions,
        health=export.health.summary(),
        files=files,
    )
    folder.write(out, folder.MANIFEST, [content])
    return ExportReport(
        out=out,
        files=tuple(out / name for name in names),
        conversations=export.conversations,
        groups=export.health.groups,
        rows=export.health.rows,
        written=export.written,
        candidates=export.candidates,
        left_out=dict(sorted(export.left_out.items())),
        health=export.health.summary(),
    )


# The first pass


def _spool(export: _Export, ledger: Ledger, spool: IO[bytes], progress: Progress | None) -> None:
    total = reading.count(export.store) if progress else 0
    for path, updated_at in reading.paths(export.store):
        export.conversations += 1
        export.as_of = max(export.as_of or "", updated_at)
        for group in _groups(export, path):
            for pair in group["pairs"]:
                ledger.note(group["prompt_key"], group["chosen_key"], pair["key"])
            spool.write(orjson.dumps(group) + b"\n")
        if progress is not None:
            progress(export.conversations, max(total, export.conversations))


def _groups(export: _Export, path: AcceptedPath) -> Iterator[Json]:
    """The branch points of one conversation that have pairs, projected."""
    decided = []
    for branch in path.branches:
        group = decide(path, branch, export.include)
        export.branch_points += 1
        export.candidates += len(branch.siblings)
        export.left_out.update(reason.value for _, reason in group.left_out)
        if group.pairs:
            decided.append(group)
    if not decided:
        return
    texts = reading.texts(
        export.store,
        decided[-1].branch.chosen.id,
        [pair.rejected.id for group in decided for pair in group.pairs],
        [digest for group in decided for digest in groups.asked(group).setting_hashes],
    )
    if texts is None or len(texts.ids) <= decided[-1].branch.place:
        export.left_out[LeftOut.GONE_MEANWHILE.value] += sum(len(group.pairs) for group in decided)
        return
    contexts = prompts.contexts(texts, [(group.branch.place, groups.asked(group)) for group in decided])
    for group in decided:
        projected = groups.project(export.target, path, group, texts, contexts[group.branch.place], export.left_out)
        if projected is not None:
            yield projected


# The second pass


def _rows(export: _Export, ledger: Ledger, spool: IO[bytes]) -> Iterator[bytes]:
    for spooled in spool:
        group: Json = orjson.loads(spooled)
        pairs = [pair for pair in group["pairs"] if _stands(export, ledger, group, pair)]
        taken = sampling.sample([pair["row_id"] for pair in pairs], export.max_negatives, export.seed)
        export.left_out[LeftOut.OVER_CAP.value] += len(pairs) - len(taken)
        export.health.groups += bool(taken)
        told = [_told(export, group, pair, len(taken)) for pair in pairs if pair["row_id"] in taken]
        for line in export.target.lines(group, told, ledger.is_new) if told else ():
            export.written += 1
            yield line
    export.left_out = +export.left_out


def _stands(export: _Export, ledger: Ledger, group: Json, pair: Json) -> bool:
    prompt, chosen, rejected = group["prompt_key"], group["chosen_key"], pair["key"]
    if ledger.contradicts(prompt, chosen) or ledger.contradicts(prompt, rejected):
        export.left_out[LeftOut.CONTRADICTION.value] += 1
        if len(export.contradictions) < EXAMPLES:
            export.contradictions.append(
                {
                    "conversation_id": group["meta"]["conversation_id"],
                    "chosen_node_id": group["meta"]["chosen_node_id"],
                    "rejected_node_id": pair["meta"]["rejected_node_id"],
                }
            )
        return False
    if not ledger.is_new(prompt, chosen, rejected):
        export.left_out[LeftOut.DUPLICATE.value] += 1
        return False
    return True


def _told(export: _Export, group: Json, pair: Json, size: int) -> tuple[Json, Json, Json]:
    """A pair with what stands flat in its row, and its provenance."""
    weight = round(1 / size, 6)
    near = pair["similarity"] >= sampling.NEAR_DUPLICATE
    ids = {"row_id": pair["row_id"], "group_id": group["group_id"], "group_weight": weight}
    flat = ids | {name: pair["meta"][name] for name in ("context_verified", "choice_evidence", "evidence_grade")}
    meta = {
        "format_version": manifest.VERSION,
        "workspace": export.store.workspace,
        **ids,
        **group["meta"],
        **pair["meta"],
        "same_model": pair["same_model"],
        "near_duplicate": near,
        "similarity": pair["similarity"] if near else None,
    }
    _count(export.health, group, pair, near)
    return pair, flat, meta


def _count(health: Health, group: Json, pair: Json, near: bool) -> None:
    health.rows += 1
    health.chosen_longer += group["length"] > pair["length"]
    health.rejected_longer += group["length"] < pair["length"]
    health.chosen_characters += group["length"]
    health.rejected_characters += pair["length"]
    health.prompt_characters += group["prompt_length"]
    health.near_duplicates += near
    health.same_model += pair["same_model"]
    health.context_verified += pair["meta"]["context_verified"]
    health.with_tools += group["with_tools"] or pair["calls_tools"]
    health.kinds[pair["meta"]["branch_kind"]] += 1
    health.evidence[pair["meta"]["choice_evidence"]] += 1
    health.grades[pair["meta"]["evidence_grade"]] += 1
