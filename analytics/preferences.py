"""Which branches make preference pairs, and how strong the choice behind each is (rules N2, N3, N5, N6). Pure.

At a branch point the accepted node is *chosen* and each sibling a candidate *rejected*. ``decide`` gives every
candidate either the evidence for a pair or the one reason why it is none: the first of ``LeftOut`` that holds, in its
order. ``docs/exports.md`` defines the words.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum


class LeftOut(StrEnum):
    """Why a candidate became no row, in the order in which the reasons are looked for."""

    TOMBSTONED = "tombstoned"
    CONVERSION = "conversion"
    COMPACTION = "compaction"
    ACCEPTED = "accepted"
    PENDING = "pending"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TRUNCATED = "truncated"
    MODERATED = "moderated"
    CHOSEN_NOT_A_TURN = "chosen_not_a_turn"
    CHOSEN_PENDING = "chosen_pending"
    CHOSEN_FAILED = "chosen_failed"
    CHOSEN_CANCELLED = "chosen_cancelled"
    CHOSEN_TRUNCATED = "chosen_truncated"
    CHOSEN_MODERATED = "chosen_moderated"
    EDITED_QUESTION = "edited_question"
    CONTEXT_MISMATCH = "context_mismatch"
    RATED_BETTER = "rated_better"
    GUESSED_CURSOR = "guessed_cursor"
    NEVER_CURRENT = "never_current"
    CENSORED = "censored"
    # From here on the texts decide, and what an export's format can say.
    GONE_MEANWHILE = "gone_meanwhile"
    CONTEXT_NOT_REPRODUCED = "context_not_reproduced"
    PROMPT_END = "prompt_end"
    NOT_EXPRESSIBLE = "not_expressible"
    CHOSEN_EMPTY = "chosen_empty"
    EMPTY = "empty"
    IDENTICAL = "identical"
    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    OVER_CAP = "over_cap"


OPTIONAL = frozenset({LeftOut.GUESSED_CURSOR, LeftOut.NEVER_CURRENT, LeftOut.CENSORED})
"""What may be let through by ``include``: doubts about the choice. All others are no pairs at all."""

TRUNCATED = frozenset({"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "incomplete"})
MODERATED = frozenset(
    {"content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"}
)
CANCELLED = frozenset({"cancelled", "canceled", "user_cancelled", "user_canceled", "interrupted", "aborted"})


@dataclass(frozen=True, slots=True)
class Reply:
    """One node at a branch point. ``created`` is in nanoseconds since 1970, ``made`` the same as ISO text.

    Of a sibling: ``accepted`` says that some live conversation's path leads through it, ``moves`` are the numbers of
    this conversation's moves into its branch, ``last`` when that branch was last added to. ``rated``: ups minus downs
    of the feedback on it.
    """

    id: str
    kind: str
    status: str
    sent_hash: str
    turn_id: str
    conversation_id: str
    created: int
    made: str
    round: int = 0
    author: str = "model"
    finish_reason: str | None = None
    failure_kind: str | None = None
    context_hash: str | None = None
    system_hash: str | None = None
    tools_hash: str | None = None
    response_format_hash: str | None = None
    parameters_hash: str | None = None
    provider: str | None = None
    model: str | None = None
    usage: str | None = None
    options: str | None = None
    deleted: bool = False
    accepted: bool = False
    moves: tuple[int, ...] = ()
    last: int = 0
    rated: int = 0

    @property
    def setting_hashes(self) -> tuple[str | None, str | None, str | None]:
        """What was in force beside the items: system prompt, tools, response format."""
        return self.system_hash, self.tools_hash, self.response_format_hash


@dataclass(frozen=True, slots=True)
class PathMove:
    """An accepted move that led to the node at ``place`` of the path."""

    place: int
    seq: int
    at: str
    reason: str
    actor: str | None


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """A place on an accepted path (0: the root) where siblings hang beside the accepted node."""

    place: int
    parent_id: str | None
    chosen: Reply
    siblings: tuple[Reply, ...]


@dataclass(frozen=True, slots=True)
class AcceptedPath:
    """A conversation's accepted path, as far as choices tell. ``times`` are those of its nodes, root first.

    ``turns`` are the places where turns begin, ``newest`` is when the conversation's tree was last added to.
    ``guessed``: the source told no active leaf, and nobody has moved the cursor here.
    """

    conversation_id: str
    source: str | None
    root_id: str | None
    guessed: bool
    times: tuple[int, ...]
    turns: tuple[int, ...]
    newest: int
    branches: tuple[BranchPoint, ...]
    moves: tuple[PathMove, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A chosen and a rejected node, why they are a pair, and how strong the choice is.

    ``evidence`` is one of N6's words, ``grade`` A to C. ``turns_after`` counts the turns that followed the chosen
    reply. ``chosen_by``, ``chosen_at`` and ``chosen_move`` tell the move that led to it, where one is recorded.
    """

    rejected: Reply
    context_verified: bool
    kind: str
    evidence: str
    grade: str
    turns_after: int
    chosen_by: str | None = None
    chosen_at: str | None = None
    chosen_move: str | None = None


@dataclass(slots=True)
class Group:
    """The pairs of one branch point."""

    branch: BranchPoint
    pairs: list[Pair] = field(default_factory=list)
    left_out: list[tuple[Reply, LeftOut]] = field(default_factory=list)


def decide(path: AcceptedPath, branch: BranchPoint, include: Collection[str] = ()) -> Group:
    """Every sibling of a branch point, as a pair or with the reason why it is none.

    ``include`` names the reasons of ``OPTIONAL`` that shall not count.
    """
    group = Group(branch)
    for sibling in branch.siblings:
        reason = next((r for r in _reasons(path, branch, sibling) if r not in include), None)
        if reason is None:
            group.pairs.append(_pair(path, branch, sibling))
        else:
            group.left_out.append((sibling, reason))
    return group


def _reasons(path: AcceptedPath, branch: BranchPoint, sibling: Reply) -> list[LeftOut]:
    chosen = branch.chosen
    said = chosen.rated > sibling.rated
    found = {
        LeftOut.TOMBSTONED: sibling.deleted,
        LeftOut.CONVERSION: sibling.kind == "conversion",
        LeftOut.COMPACTION: sibling.kind == "compaction",
        LeftOut.ACCEPTED: sibling.accepted,
        **{LeftOut(word): True for word in unusable(sibling)},
        LeftOut.CHOSEN_NOT_A_TURN: chosen.kind != "turn",
        **{LeftOut(f"chosen_{word}"): True for word in unusable(chosen)},
        LeftOut.EDITED_QUESTION: sibling.sent_hash != chosen.sent_hash,
        LeftOut.CONTEXT_MISMATCH: not _same_context(chosen, sibling),
        LeftOut.RATED_BETTER: sibling.rated > chosen.rated,
        # What somebody said of the two answers needs no inference from where the cursor is or was.
        LeftOut.GUESSED_CURSOR: path.guessed and not said,
        LeftOut.NEVER_CURRENT: not sibling.moves and sibling.context_hash is not None and not said,
        LeftOut.CENSORED: not sibling.moves and sibling.last == path.newest and not said,
    }
    return [reason for reason in LeftOut if found.get(reason)]


def unusable(reply: Reply) -> list[str]:
    """What makes a call's answer no answer to judge."""
    if reply.status != "succeeded":
        return [reply.status]
    finish = (reply.finish_reason or "").lower()
    words = (("cancelled", CANCELLED), ("truncated", TRUNCATED), ("moderated", MODERATED))
    return [word for word, reasons in words if finish in reasons]


def _same_context(one: Reply, other: Reply) -> bool:
    """Whether both were sent the same; judged by their parts where a fingerprint of the whole is missing."""
    if one.context_hash is not None and other.context_hash is not None:
        return one.context_hash == other.context_hash
    return one.setting_hashes == other.setting_hashes


def _pair(path: AcceptedPath, branch: BranchPoint, sibling: Reply) -> Pair:
    chosen = branch.chosen
    turns_after = sum(1 for place in path.turns if place > branch.place)
    entry = _entry(path, branch.place)
    evidence = _evidence(path, branch, sibling, turns_after)
    strong = evidence == "explicit_feedback" or (turns_after and evidence in {"continued", "returned_to_older"})
    return Pair(
        rejected=sibling,
        context_verified=chosen.context_hash is not None and sibling.context_hash is not None,
        kind=_kind(path, chosen, sibling),
        evidence=evidence,
        grade="A" if strong else "B" if evidence == "returned_to_older" or chosen.author == "person" else "C",
        turns_after=turns_after,
        chosen_by=entry.actor if entry else None,
        chosen_at=entry.at if entry else None,
        chosen_move=entry.reason if entry else None,
    )


def _kind(path: AcceptedPath, chosen: Reply, sibling: Reply) -> str:
    if "person" in (chosen.author, sibling.author):
        return "assistant_edit"
    if path.conversation_id != sibling.conversation_id:
        return "fork"
    return "agent_step" if chosen.round or sibling.round else "regenerate"


def _evidence(path: AcceptedPath, branch: BranchPoint, sibling: Reply, turns_after: int) -> str:
    if branch.chosen.rated > sibling.rated:
        return "explicit_feedback"
    if sibling.created > branch.chosen.created:
        # The newer answer was left for the older one: a move out of its branch says so, or what was added afterwards.
        came_back = bool(sibling.moves) or max(path.times[branch.place + 1 :], default=0) > sibling.last
        return "returned_to_older" if came_back else "leaf_only"
    if turns_after:
        return "continued"
    return "newest_only" if sibling.moves else "leaf_only"


def _entry(path: AcceptedPath, place: int) -> PathMove | None:
    """The move that last led the cursor from outside into the branch that begins at ``place``."""
    outside = [move.seq for move in path.moves if move.place < place]
    for branch in path.branches:
        if branch.place <= place:
            outside += [seq for sibling in branch.siblings for seq in sibling.moves]
    last = max(outside, default=0)
    return min(
        (move for move in path.moves if move.place >= place and move.seq > last and move.reason != "import"),
        key=lambda move: move.seq,
        default=None,
    )
