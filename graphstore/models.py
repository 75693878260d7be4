"""The nouns: frozen, no I/O, no database. ``docs/semantics.md`` defines the words.

Items are plain JSON objects (``dict``) wherever they are read, because a context may hold thousands; the classes
here describe them, build them conveniently, and check what is written. Fields unknown to this version are kept.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag


class Frozen(BaseModel):
    """Base of every model: immutable."""

    model_config = ConfigDict(frozen=True)


class _Item(Frozen):
    model_config = ConfigDict(frozen=True, extra="allow")


class Message(_Item):
    """Something said. ``content`` is text, or a list of parts (``{"type": "text", "text": …}``, image, file, …)."""

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[dict[str, Any]]


class ToolCall(_Item):
    """A model's request to run a tool; ``arguments`` is the model's own JSON text, unparsed."""

    type: Literal["tool_call"] = "tool_call"
    call_id: str
    name: str
    arguments: str


class ToolResult(_Item):
    """What a tool call gave back; pairs with the call of the same ``call_id``."""

    type: Literal["tool_result"] = "tool_result"
    call_id: str
    output: str | list[dict[str, Any]]
    is_error: bool = False


class Reasoning(_Item):
    """A model's reasoning. ``text`` may be missing where a provider gives only a signed or encrypted block."""

    type: Literal["reasoning"] = "reasoning"
    text: str | None = None
    summary: list[str] | None = None
    signature: str | None = None
    encrypted: str | None = None


class OtherItem(_Item):
    """Anything else a provider or an export holds, kept raw and given back as it was."""

    type: str


KNOWN_TYPES = ("message", "tool_call", "tool_result", "reasoning")


def _tag(value: Any) -> str:
    kind = value.get("type", "message") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in KNOWN_TYPES else "other"


Item = Annotated[
    Annotated[Message, Tag("message")]
    | Annotated[ToolCall, Tag("tool_call")]
    | Annotated[ToolResult, Tag("tool_result")]
    | Annotated[Reasoning, Tag("reasoning")]
    | Annotated[OtherItem, Tag("other")],
    Discriminator(_tag),
]


class NodeKind(StrEnum):
    """What a call was for."""

    TURN = "turn"
    CONVERSION = "conversion"
    COMPACTION = "compaction"


class Status(StrEnum):
    """How far a call has come."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Reason(StrEnum):
    """Why a cursor moved."""

    TURN = "turn"
    EDIT = "edit"
    REGENERATE = "regenerate"
    CORRECT = "correct"
    SWITCH = "switch"
    COMPACTION = "compaction"
    FAILURE = "failure"
    FORK = "fork"
    IMPORT = "import"
    CLEAR = "clear"


Tokens = Annotated[int, Field(ge=0, lt=2**63)]
"""A number of tokens."""


class Usage(Frozen):
    """Tokens of one call as the provider reported them; provider-specific counts are kept beside."""

    model_config = ConfigDict(frozen=True, extra="allow")

    input_tokens: Tokens = 0
    output_tokens: Tokens = 0
    cached_input_tokens: Tokens = 0
    cache_write_tokens: Tokens = 0
    reasoning_tokens: Tokens = 0


class Failure(Frozen):
    """Why a call failed. ``context_overflow`` and ``lost`` are kinds the store itself acts on."""

    kind: str
    message: str = ""


CONTEXT_OVERFLOW = "context_overflow"
"""The failure kind of a call whose context was too long: it never becomes the end of a conversation."""

LOST = "lost"
"""The failure kind of a call whose process died; its late completion is still accepted."""

NO_REPLY = "no_reply"
"""The failure kind of an imported question that has no reply."""

CANCELLED = "cancelled"
"""The finish reason of a call that the user stopped."""


class RunningTurn(Frozen):
    """The exclusive turn that holds a conversation, and until when unless renewed."""

    turn_id: str
    owner: str | None
    expires_at: datetime
    node_id: str | None


class Conversation(Frozen):
    """One thread. ``cursor`` names the node that ends it now (``None``: empty)."""

    id: str
    workspace: str
    title: str | None
    created_at: datetime
    updated_at: datetime
    version: int
    epoch: int
    cursor: str | None
    source: str | None = None
    source_id: str | None = None
    forked_from: str | None = None
    forked_at: str | None = None
    turn: RunningTurn | None = None
    metadata: dict[str, Any] = {}


class ConversationSummary(Frozen):
    """A line of a listing. ``nodes`` counts the live nodes the conversation owns, ``branches`` the leaves of its tree.

    A fork (``forked_from`` names its origin) also stands on a prefix that it shares: those nodes are its origin's and
    not counted, but its tree has the branch that ends where it began, until a node of its own follows there.
    """

    id: str
    title: str | None
    source: str | None
    source_id: str | None
    nodes: int
    branches: int
    cursor: str | None
    forked_from: str | None = None
    created_at: datetime
    updated_at: datetime


class Node(Frozen):
    """One stored call. ``sent`` and ``returned`` are lists of items (JSON objects)."""

    id: str
    conversation_id: str
    parent_id: str | None
    compacts_id: str | None = None
    kind: NodeKind
    status: Status
    turn_id: str
    round: int
    sent: list[dict[str, Any]]
    returned: list[dict[str, Any]]
    partial: list[dict[str, Any]] = []
    finish_reason: str | None = None
    failure: Failure | None = None
    provider: str | None = None
    model: str | None = None
    usage: Usage | None = None
    author: Literal["model", "person"] = "model"
    created_at: datetime
    finished_at: datetime | None = None
    deleted_at: datetime | None = None
    tombstone: str | None = None
    system_hash: str | None = None
    tools_hash: str | None = None
    response_format_hash: str | None = None
    parameters_hash: str | None = None
    context_hash: str | None = None
    response_id: str | None = None
    readers: tuple[str, ...] = ()
    options: dict[str, Any] = {}
    metadata: dict[str, Any] = {}


class Move(Frozen):
    """One move of a cursor, or one refused (``accepted`` false)."""

    id: str
    seq: int
    at: datetime
    from_id: str | None
    to_id: str | None
    reason: Reason
    actor: str | None
    accepted: bool


class Marker(Frozen):
    """Where a turn on the path stands among its siblings ("2/3").

    ``siblings`` is a window of at most 50 ids (first nodes of turns, oldest first) around ``position`` (1-based);
    ``left`` and ``right`` are what the arrows switch to. ``version`` of ``versions`` counts distinct questions,
    ``answer`` of ``answers`` the answers to this version of the question.
    """

    node_id: str
    turn_id: str
    position: int
    count: int
    siblings: tuple[str, ...]
    left: str | None
    right: str | None
    version: int
    versions: int
    answer: int
    answers: int


class Bubble(Frozen):
    """What a screen shows of a node: ``content`` is a JSON object of the caller's own shape."""

    id: str
    node_id: str
    turn_id: str
    content: dict[str, Any]
    created_at: datetime


class BubblePage(Frozen):
    """A page of a conversation's screen, oldest first; ``before`` is the key of the page above (``None``: the top).

    ``markers`` are those of the turns that it shows, in order; their ``turn_id`` tells which bubbles are theirs.
    ``node_id`` is the view end: the last node of the running exclusive turn, else the cursor (``None``: empty).
    """

    node_id: str | None
    bubbles: tuple[Bubble, ...]
    markers: tuple[Marker, ...]
    before: str | None


class SawByUser(Frozen):
    """What the user of a conversation saw at a time: the path that was the cursor's then, and its bubbles of then.

    ``path`` are the ids of its nodes, root first. ``node_id`` is where the cursor was (``None``: the conversation was
    empty); ``gone`` says that this node has been removed since, so that nothing of it can be shown. ``erased`` are the
    nodes of the path whose content was blanked since.
    """

    conversation_id: str
    at: datetime
    node_id: str | None
    path: tuple[str, ...]
    bubbles: tuple[Bubble, ...]
    gone: bool = False
    erased: tuple[str, ...] = ()


class UnseenBranch(Frozen):
    """A branch that was written but refused as the current one; ``node_id`` is its end."""

    node_id: str
    turn_id: str
    created_at: datetime
    refused_at: datetime


class Tombstone(Frozen):
    """A branch that is hidden: the node it begins at, how many nodes that hides, and since when."""

    node_id: str
    nodes: int
    deleted_at: datetime


class Unpriced(Frozen):
    """Calls whose price isn't known, of one model (``None``: it wasn't recorded either)."""

    provider: str | None
    model: str | None
    calls: int
    usage: Usage


class Spend(Frozen):
    """What calls used and cost. ``usage`` sums what providers reported, ``cost`` is in US dollars, exact.

    ``unpriced`` are calls that ``cost`` doesn't hold since their model's price isn't known, ``unreported`` the number
    of succeeded calls whose usage was never stored. ``known`` says that there are none of either.
    """

    calls: int
    usage: Usage
    cost: Decimal
    unreported: int = 0
    unpriced: tuple[Unpriced, ...] = ()

    @property
    def known(self) -> bool:
        """Whether ``cost`` is all that these calls cost."""
        return not self.unreported and not self.unpriced


class UsageReport(Frozen):
    """What a conversation used.

    ``accepted`` is its cursor's path, ``running`` the turn that runs now, ``discarded`` all other turns, hidden ones
    too; with ``conversions`` and ``compactions`` they make up ``total``. ``inherited`` is the prefix that it shares but
    others own; it is in no sum.
    """

    conversation_id: str
    accepted: Spend
    running: Spend
    discarded: Spend
    conversions: Spend
    compactions: Spend
    total: Spend
    inherited: Spend


class UsageLine(Frozen):
    """A line of a workspace's usage; what it isn't told by is ``None``."""

    provider: str | None = None
    model: str | None = None
    day: date | None = None
    tag: str | None = None
    spend: Spend


class UsageTable(Frozen):
    """A workspace's usage, told by ``by``."""

    by: tuple[str, ...]
    lines: tuple[UsageLine, ...]
    total: Spend


class Kept(Frozen):
    """Nodes that outlive their conversation's deletion: ``conversation_id``, which stands on them, owns them now."""

    conversation_id: str
    nodes: int
    erased: bool


class RemovalReceipt(Frozen):
    """What a deletion, a clear or a purge removed, and what it kept for whom."""

    conversation_id: str
    nodes: int = 0
    bubbles: int = 0
    moves: int = 0
    kept: tuple[Kept, ...] = ()


class RetentionRules(Frozen):
    """What may go: conversations not changed for so many days, with one of ``tags`` (none named: any).

    Those with one of ``keep_tags``, or a node that carries one of ``keep_labels``, stay. With ``abandoned_only`` the
    conversations stay and only branches off their accepted paths go.
    """

    older_than_days: float = Field(ge=0)
    tags: tuple[str, ...] = ()
    keep_tags: tuple[str, ...] = ()
    keep_labels: tuple[str, ...] = ()
    abandoned_only: bool = False


class RetentionStep(Frozen):
    """A conversation, or a branch of it that begins at ``node_id``: whether it goes, how many nodes, and why.

    ``receipt`` is there once it went.
    """

    conversation_id: str
    node_id: str | None
    goes: bool
    nodes: int
    why: str
    receipt: RemovalReceipt | None = None


class ArchiveReport(Frozen):
    """An archive that was written, restored or checked: ``counts`` are its records of each kind.

    ``workspace`` is the one it was made of, or restored into; ``sha256`` that of its content, unpacked.
    """

    workspace: str
    path: Path
    bytes: int
    counts: dict[str, int]
    sha256: str


class Disagreement(Frozen):
    """Something stored that is not as it must be.

    ``what`` is the rule that is broken (``sent_hash``, ``parent``, ``cursor``, …), ``kind`` and ``id`` name the thing
    (``Node``, ``Conversation``, …), ``stored`` is what it has and ``true`` what it should have, in words.
    """

    what: str
    kind: str
    id: str
    stored: str
    true: str


class VerifyReport(Frozen):
    """What ``verify`` looked at and found. ``checked`` counts things by kind; ``found`` all that disagrees.

    ``listed`` are the first disagreements, as many as are kept. ``erased`` are calls whose fingerprints can't be made
    again, as content they stood on was blanked for good: that is no disagreement.
    """

    workspace: str
    checked: dict[str, int]
    found: int
    listed: tuple[Disagreement, ...]
    erased: int = 0

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return self.found == 0


class EffectStatus(StrEnum):
    """How far an effect has come."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"
    DONE = "done"
    FAILED = "failed"
    COMPENSATED = "compensated"


class Effect(Frozen):
    """Something that reaches the outside, recorded on the node that proposed it.

    ``conversation_id`` owns that node; ``on_path`` says whether it is on that conversation's history path now, up
    to the last node of a running turn. ``compensation`` is whatever the proposer gave to undo it by. A claimed effect
    names its ``worker`` and ``claim_id``.
    """

    id: str
    node_id: str
    conversation_id: str
    name: str
    arguments: dict[str, Any]
    reversible: bool
    compensation: dict[str, Any] | None
    status: EffectStatus
    on_path: bool
    proposed_at: datetime
    decided_by: str | None = None
    decided_at: datetime | None = None
    worker: str | None = None
    claim_id: str | None = None
    claimed_at: datetime | None = None
    result: Any = None
    finished_at: datetime | None = None
    compensation_result: Any = None
    compensated_at: datetime | None = None


class CachedResult(Frozen):
    """A tool's result as the cache keeps it; ``hits`` counts this reading too."""

    name: str
    scope: str
    output: Any
    created_at: datetime
    expires_at: datetime | None
    hits: int


class CachedTool(Frozen):
    """A tool in the cache: how many ``results`` it has, of how many ``bytes``, its hits and misses, and its rule."""

    name: str
    results: int
    bytes: int
    hits: int
    misses: int
    never: bool
    expires: timedelta | None
    scope_required: bool


class Fact(Frozen):
    """A value that a node derived for a key; ``outside`` says where it was written outside the store as well."""

    key: str
    value: Any
    node_id: str
    outside: Any = None
    created_at: datetime


class ImportOutcome(Frozen):
    """What an import did with one conversation of its source.

    ``counts`` and ``notes`` tell what was read and repaired; ``skipped`` says why nothing could be read at all (then
    ``conversation_id`` is ``None``). ``nodes_known`` were there from an earlier import. ``cursor_left`` says why the
    cursor is not where the source has it: somebody moved it here since the last import, or a turn was running.
    """

    source: str
    source_id: str | None
    title: str | None
    conversation_id: str | None
    nodes_added: int
    nodes_known: int
    cursor_moved: bool
    cursor_left: Literal["moved_here", "turn_running"] | None = None
    skipped: str | None
    counts: dict[str, int]
    notes: tuple[str, ...]


class Scope(StrEnum):
    """What a key of the service may be used for. None includes another."""

    READ = "read"
    WRITE = "write"
    EXPORT = "export"
    ADMIN = "admin"


class ApiKey(Frozen):
    """A key of the service, without its secret. It opens one workspace."""

    id: str
    workspace: str
    name: str | None
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = None
